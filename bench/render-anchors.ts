import type { AnchorsFigures, PassFigures } from './measure-anchors.js';
import { renderTable } from './render-table.js';

/** The part of the report about anchors. */
export const renderAnchors = ({ leaves, root, tree, path_us, verify_us }: AnchorsFigures): string[] => {
  const row = (name: string, { seconds, rss_mb, longest_turn_ms }: PassFigures) => [
    name,
    seconds.toFixed(1),
    Math.round(rss_mb),
    longest_turn_ms.toFixed(0),
  ];
  return [
    `### The tree of an anchor of ${leaves} checks`,
    renderTable(
      ['', 'seconds', 'memory above before (MB)', 'longest turn of the event loop (ms)'],
      [row('root, streamed', root), row('tree for proofs', tree)],
    ),
    `One proof ${path_us.toFixed(1)} µs, its verification ${verify_us.toFixed(1)} µs.`,
  ];
};
