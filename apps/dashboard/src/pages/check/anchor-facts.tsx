import { Link } from '@tanstack/react-router';
import type { Check } from '../../api/shapes.js';
import { count } from '../../parts/count.js';
import { Facts } from '../../parts/facts.js';

/** Where a check lies in the tree of its anchor. */
export const AnchorFacts = ({ anchor }: { anchor: NonNullable<Check['anchor']> }) => (
  <Facts
    facts={{
      Anchor: (
        <>
          {anchor.seq} <code>{anchor.anchor_id}</code>
        </>
      ),
      Leaf: `${count(anchor.leaf_index)} of ${count(anchor.tree_size)}`,
      Chain: <Link to="/evidence">All anchors</Link>,
    }}
  />
);
