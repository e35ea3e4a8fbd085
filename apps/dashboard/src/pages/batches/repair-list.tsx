import type { Repair, RepairKind } from '@vat/spreadsheet';
import { count } from '../../parts/count.js';
import { shorten } from '../../parts/shorten.js';

const DONE: Record<RepairKind, string> = {
  digits_lost: 'shortened by a spreadsheet to a power of ten; these digits are lost and cannot be repaired',
  blanks_removed: 'odd or invisible spaces taken out',
  apostrophe_removed: 'a leading apostrophe taken off',
  formula_unwrapped: 'a number taken out of a formula',
  decimals_removed: 'decimals taken off',
  grouping_removed: 'thousands separators taken out',
  country_name_read: 'a country’s name read as its code',
};

/** What was done to cells before they are used, by kind, each with an example; what cannot be repaired comes first. */
export const RepairList = ({ repairs }: { repairs: readonly Repair[] }) => {
  if (repairs.length === 0) return <p className="hint">Nothing had to be repaired.</p>;
  const kinds = (Object.keys(DONE) as RepairKind[]).flatMap((kind) => {
    const found = repairs.filter((repair) => repair.kind === kind);
    const [example] = found;
    return example ? [{ kind, times: found.length, example }] : [];
  });
  return (
    <div>
      <h4>Repaired</h4>
      <ul className="repairs">
        {kinds.map(({ kind, times, example }) => (
          <li key={kind} className={kind === 'digits_lost' ? 'lost' : undefined}>
            <strong>{count(times)} ×</strong> {DONE[kind]}; line {example.line}: <code>{shorten(example.before)}</code>
            {example.after !== example.before && (
              <>
                {' '}
                → <code>{shorten(example.after)}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
};
