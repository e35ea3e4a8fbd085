import { Link } from '@tanstack/react-router';
import type { Change } from '../../api/shapes.js';
import { Empty } from '../../parts/states.js';
import { DateTime, Status } from '../../parts/text.js';

const changeValue = (value: Change['before']) => {
  if (typeof value === 'boolean') return <Status word={value ? 'valid' : 'invalid'} />;
  return value === null ? <em>none</em> : <span className="quoted">{value}</span>;
};

/** Changes of watched numbers, newest first. */
export const ChangeList = ({ changes }: { changes: readonly Change[] }) => {
  if (changes.length === 0) {
    return <Empty title="No changes">Changes of validity, name or address appear here.</Empty>;
  }
  return (
    <ol className="changes">
      {changes.map((change) => (
        <li key={`${change.check_id} ${change.kind}`}>
          <div className="change-head">
            <span>
              {change.vat_number && <strong>{change.label ?? change.vat_number}</strong>}{' '}
              {change.label && change.vat_number} {change.kind}
            </span>
            <Link to="/checks/$id" params={{ id: change.check_id }}>
              <DateTime at={change.changed_at} />
            </Link>
          </div>
          <div className="change-values">
            {changeValue(change.before)} <span aria-hidden="true">→</span>{' '}
            <span className="visually-hidden">changed to</span> {changeValue(change.after)}
          </div>
        </li>
      ))}
    </ol>
  );
};
