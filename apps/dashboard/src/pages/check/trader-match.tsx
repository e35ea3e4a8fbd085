import type { Check } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { Facts } from '../../parts/facts.js';
import { Status } from '../../parts/status.js';

const NAMES = {
  name: 'Name',
  street: 'Street',
  postal_code: 'Postal code',
  city: 'City',
  company_type: 'Company type',
} as const;

/** What was sent about the trader, one part a line. */
export const TraderGiven = ({ trader }: { trader: NonNullable<Check['trader']> }) => (
  <span className="lines">
    {Object.entries(NAMES)
      .flatMap(([part, name]) => {
        const given = trader[part as keyof typeof NAMES];
        return given ? [`${name}: ${given}`] : [];
      })
      .join('\n')}
  </span>
);

/** VIES's word on each part of the trader that was sent. */
export const TraderMatch = ({ match }: { match: NonNullable<Check['trader_match']> }) => (
  <Card title="Trader match" hint="How VIES judged what was sent about the trader.">
    <Facts
      facts={Object.fromEntries(
        Object.entries(NAMES).map(([part, name]) => {
          const word = match[part as keyof typeof NAMES];
          return [name, word && <Status word={word} />];
        }),
      )}
    />
  </Card>
);
