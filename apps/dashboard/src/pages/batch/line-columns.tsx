import { Link } from '@tanstack/react-router';
import type { BatchLine } from '../../api/shapes.js';
import type { Column } from '../../parts/data-table.js';
import { shorten } from '../../parts/shorten.js';
import { Status } from '../../parts/status.js';

/** How the lines of a batch are listed. */
export const LINE_COLUMNS: readonly Column<BatchLine>[] = [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  {
    head: 'VAT number',
    cell: ({ check_id, vat_number, input }) => {
      const text = vat_number ?? shorten(input);
      if (check_id === null) return text === '' ? <em>empty</em> : text;
      return (
        <Link to="/checks/$id" params={{ id: check_id }} className="main-link">
          {text}
        </Link>
      );
    },
  },
  { head: 'As sent', cell: ({ input, vat_number }) => (input === vat_number ? null : shorten(input)) },
  { head: 'Reference', cell: ({ reference }) => (reference === null ? null : shorten(reference)) },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Error',
    cell: ({ error }) =>
      error === null ? null : (
        <>
          <code>{error.code}</code> {error.message}
        </>
      ),
  },
];
