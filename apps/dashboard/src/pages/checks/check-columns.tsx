import { Link } from '@tanstack/react-router';
import type { Check } from '../../api/shapes.js';
import type { Column } from '../../parts/data-table.js';
import { Moment } from '../../parts/moment.js';
import { Status } from '../../parts/status.js';

/** How checks are listed. */
export const CHECK_COLUMNS: readonly Column<Check>[] = [
  {
    head: 'VAT number',
    cell: ({ id, vat_number, test }) => (
      <>
        <Link to="/checks/$id" params={{ id }} className="main-link">
          {vat_number}
        </Link>{' '}
        {test && <Status word="test" />}
      </>
    ),
  },
  { head: 'Verdict', cell: ({ verdict }) => <Status word={verdict} /> },
  { head: 'Name', cell: ({ name }) => (name === null ? null : <span className="clipped">{name}</span>) },
  { head: 'Reference', cell: ({ reference }) => reference },
  { head: 'Checked', cell: ({ checked_at }) => <Moment at={checked_at} /> },
];
