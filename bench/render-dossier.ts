import type { DossierFigures } from './measure-dossier.js';
import { renderTable } from './render-table.js';

/** The part of the report about the export of a dossier. */
export const renderDossier = (figures: DossierFigures): string[] => [
  '### The dossier of one account',
  renderTable(
    ['checks', 'leaves of other accounts', 'MB', 'seconds', 'first byte (ms)', 'additional API memory (MB)'],
    [
      [
        figures.checks,
        figures.other_leaves,
        Math.round(figures.mb),
        figures.seconds.toFixed(1),
        Math.round(figures.first_byte_ms),
        Math.round(figures.rss_mb),
      ],
    ],
  ),
  `During the export ${figures.other_calls} other calls to the same process; the slowest took ${Math.round(figures.slowest_other_ms)} ms.`,
];
