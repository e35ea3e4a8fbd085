import type { Anchor } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';
import type { Column } from '../../parts/data-table.js';
import { DownloadButton } from '../../parts/download-button.js';
import { Empty } from '../../parts/empty.js';
import { Findings } from '../../parts/findings.js';
import { Listing } from '../../parts/listing.js';
import { Moment } from '../../parts/moment.js';
import { Refusal } from '../../parts/refusal.js';
import { useVerify } from '../../parts/use-verify.js';
import { verifyChain } from '../../proof/verify-chain.js';

const COLUMNS: readonly Column<Anchor>[] = [
  { head: 'Anchor', figures: true, cell: ({ seq }) => <strong>{seq}</strong> },
  { head: 'Closed', cell: ({ closed_at }) => <Moment at={closed_at} seconds /> },
  { head: 'Leaves', figures: true, cell: ({ tree_size }) => count(tree_size) },
  {
    head: 'Root',
    cell: ({ root }) => (
      <code className="clipped" title={root}>
        {root}
      </code>
    ),
  },
  {
    head: 'Time-stamp',
    cell: ({ anchor_id, seq }) => (
      <DownloadButton small path={`/anchors/${anchor_id}.tsr`} fileName={`${seq}.tsr`}>
        Download
      </DownloadButton>
    ),
  },
];

/** Anchors are nobody's news: they come by the clock. */
const LOOK_EVERY_MS = 15_000;

/** The chain of anchors: each fixes a tree of checks, names the one before, and is time-stamped. */
export const AnchorsCard = () => {
  const anchors = usePages<Anchor>('anchors', '/anchors', {}, LOOK_EVERY_MS);
  const verify = useVerify(() => verifyChain(globalThis.crypto)(anchors.data ?? []));
  return (
    <Card
      title="Anchors"
      hint="Every so often the service closes the checks of all accounts into a tree and chains its root to the one before, so that none can be changed or slipped in later."
      actions={
        anchors.data &&
        anchors.data.length > 0 && (
          <Button small isPending={verify.isPending} onPress={() => verify.mutate()}>
            Verify the chain
          </Button>
        )
      }
    >
      <Refusal error={verify.error} />
      {verify.data && <Findings findings={verify.data} />}
      <Listing
        label="Anchors"
        list={anchors}
        columns={COLUMNS}
        rowKey={({ anchor_id }) => anchor_id}
        empty={<Empty title="No anchors yet">The first is closed once there are checks of live keys.</Empty>}
      />
    </Card>
  );
};
