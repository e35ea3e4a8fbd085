import { Facts } from './facts.js';

const shown = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** A record of the API whose keys are left to it, such as the facts of a time-stamp, key by key. */
export const RecordFacts = ({ record }: { record: Record<string, unknown> }) => (
  <Facts
    facts={Object.fromEntries(
      Object.entries(record).map(([name, value]) => {
        const text = shown(value);
        return [name.replaceAll('_', ' '), text && <code>{text}</code>];
      }),
    )}
  />
);
