import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { addressOf, useApi } from '../../api/create-api.js';
import type { Check } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { DownloadButton } from '../../parts/confirm.js';
import { count } from '../../parts/format.js';
import { ErrorAlert, Findings } from '../../parts/states.js';
import { Card, Facts, IdText } from '../../parts/text.js';
import { TimestampFacts } from '../../parts/timestamp-facts.js';
import { verifyCheck } from '../../proof/verify.js';
import { CertificateLink } from './certificate-link.js';
import { PublicLink } from './public-link.js';

/** The position of a check in the tree of its anchor. */
const AnchorFacts = ({ anchor }: { anchor: NonNullable<Check['anchor']> }) => (
  <Facts
    facts={{
      Anchor: (
        <>
          {anchor.seq} <code>{anchor.anchor_id}</code>
        </>
      ),
      Leaf: `${count(anchor.leaf_index)} of ${count(anchor.tree_size)}`,
      Chain: <Link to="/evidence">View all anchors</Link>,
    }}
  />
);

/** The evidence of a check: hash, time-stamp, anchor, downloads, and verification in the browser. */
export const EvidenceCard = ({ check }: { check: Check }) => {
  const api = useApi();
  const verify = useMutation({ mutationFn: () => verifyCheck(api, check) });
  const sendOnce = useIdempotencyKey();
  const stamp = useApiMutation(['checks'], (caller) =>
    sendOnce([check.id], (headers) => caller.call('POST', `/checks/${check.id}/timestamp`, { headers })),
  );
  const { timestamp, anchor } = check;
  return (
    <Card
      title="Evidence"
      hint="The hash covers the check in canonical form (RFC 8785). Download the evidence to prove the result and its time."
      actions={
        <Button small variant="primary" isPending={verify.isPending} onPress={() => verify.mutate()}>
          Verify
        </Button>
      }
    >
      <Facts
        facts={{
          Hash: <IdText id={check.response_hash} what="the hash" />,
          Salt: <code>{check.salt}</code>,
          Profile: <code>{check.hash_profile}</code>,
        }}
      />
      <ErrorAlert error={verify.error ?? stamp.error} />
      {verify.data && <Findings findings={verify.data} />}
      {timestamp !== null && (
        <>
          <h3>Time-stamp</h3>
          <TimestampFacts timestamp={timestamp} />
        </>
      )}
      {anchor !== null && (
        <>
          <h3>Anchor</h3>
          <AnchorFacts anchor={anchor} />
        </>
      )}
      {anchor === null && !check.test && (
        <p className="hint">This check becomes part of the next anchor, which then appears here.</p>
      )}
      {stamp.isSuccess && timestamp === null && (
        <p role="status">Time-stamp requested. It appears here when it is issued.</p>
      )}
      <div className="actions">
        <a className="button" href={addressOf(`/checks/${check.id}/evidence`)} download={`${check.id}.json`}>
          Download evidence
        </a>
        <CertificateLink checkId={check.id} />
        {timestamp !== null && (
          <DownloadButton path={`/checks/${check.id}/timestamp.tsr`} fileName={`${check.id}.tsr`}>
            Download time-stamp
          </DownloadButton>
        )}
        {timestamp === null && !check.test && !stamp.isSuccess && (
          <Button isPending={stamp.isPending} onPress={() => stamp.mutate()}>
            Request time-stamp
          </Button>
        )}
      </div>
      <PublicLink check={check} />
    </Card>
  );
};
