import type { DossierFigures } from './measure-dossier.js';
import { renderTable } from './render-table.js';

/** The part of the report about the export of a dossier. */
export const renderDossier = (figures: DossierFigures): string[] => [
  '### The dossier of one account',
  renderTable(
    ['checks', "others' leaves between", 'MB', 'seconds', 'first byte (ms)', 'API memory above before (MB)'],
    [
      [
        figures.checks,
        figures.strangers,
        Math.round(figures.mb),
        figures.seconds.toFixed(1),
        Math.round(figures.first_byte_ms),
        Math.round(figures.rss_mb),
      ],
    ],
  ),
  `Meanwhile ${figures.other_calls} other calls of the same process; the slowest took ${Math.round(figures.slowest_other_ms)} ms.`,
];
