import type { PublicVerification } from '../api/shapes.js';
import { count } from '../parts/format.js';
import { Findings } from '../parts/states.js';
import { Card, DateTime, Facts, IdText, TimestampFacts } from '../parts/text.js';
import type { Finding } from '../proof/finding.js';

/** When the check will be in an anchor, or that it should be. */
const AnchoredBy = ({ at }: { at: string }) =>
  Date.parse(at) > Date.now() ? (
    <>
      Will be anchored by <DateTime at={at} />. Reload this page after that.
    </>
  ) : (
    <>
      Was to be anchored by <DateTime at={at} />. Reload this page later.
    </>
  );

const AnchorFacts = ({ data: { proof, anchors, anchored_by } }: { data: PublicVerification }) => {
  if (!proof)
    return (
      <p className="hint">
        {anchored_by === null ? 'Test checks are never anchored.' : <AnchoredBy at={anchored_by} />}
      </p>
    );
  const anchor = anchors.find(({ anchor_id }) => anchor_id === proof.anchor_id);
  return (
    <Facts
      facts={{
        Anchor: (
          <>
            {anchor?.seq} <code>{proof.anchor_id}</code>
          </>
        ),
        Leaf: `${count(proof.leaf_index + 1)} of ${count(proof.tree_size)}`,
        Closed: anchor && <DateTime at={anchor.closed_at} exact />,
        Root: anchor && <IdText id={anchor.root} what="the root" />,
      }}
    />
  );
};

type ProofCardProps = { data: PublicVerification; findings: readonly Finding[]; path: string };

/** What was verified, and the facts that others can verify. `path`: of the data. */
export const ProofCard = ({ data, findings, path }: ProofCardProps) => {
  const { timestamp, anchor_timestamp: ofAnchor, proof } = data;
  return (
    <Card
      title="Proof"
      hint="Your browser computed this from the recorded bytes. The page loads nothing from third parties."
    >
      <Findings findings={findings} />
      <Facts facts={{ Hash: <IdText id={data.response_hash} what="the hash" /> }} />
      <h3>Anchor</h3>
      <AnchorFacts data={data} />
      {proof && (
        <>
          <h3>Time-stamp of the anchor</h3>
          {ofAnchor ? (
            <TimestampFacts timestamp={ofAnchor} />
          ) : (
            <p className="hint">Not available yet. The service requests it from the authority until it is issued.</p>
          )}
        </>
      )}
      {timestamp ? (
        <>
          <h3>Time-stamp of the check</h3>
          <TimestampFacts timestamp={timestamp} />
        </>
      ) : (
        proof && <p className="hint">The check has no time-stamp of its own. That of its anchor covers it.</p>
      )}
      {(timestamp || ofAnchor) && (
        <p className="hint">
          This page shows time-stamps as the service states them. The dossier that the owner of the check can export
          contains them, with the program that verifies their signatures.
        </p>
      )}
      <p>
        <a href={path}>View the data of this page (JSON)</a>
      </p>
    </Card>
  );
};
