import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/create-api.js';
import { isNotFound } from '../../api/errors.js';
import type { Check, CheckLink } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Button, CopyButton } from '../../parts/button.js';
import { DocumentLink } from '../../parts/document-link.js';
import { DownloadButton, DownloadLink } from '../../parts/download.js';
import { count } from '../../parts/format.js';
import { ErrorAlert, Findings, QueryView } from '../../parts/states.js';
import { Card, Facts, IdText, TimestampFacts } from '../../parts/text.js';
import { verifyCheck } from '../../proof/verify.js';
import { Changing, useBoot } from '../../session/session.js';

/** The position of a check in the tree of its anchor. */
const AnchorFacts = ({ anchor }: { anchor: NonNullable<Check['anchor']> }) => (
  <Facts
    facts={{
      Anchor: (
        <>
          {anchor.seq} <code>{anchor.anchor_id}</code>
        </>
      ),
      Leaf: `${count(anchor.leaf_index + 1)} of ${count(anchor.tree_size)}`,
      Chain: <Link to="/evidence">View all anchors</Link>,
    }}
  />
);

/** The public link of a check. Renders nothing while public verification is off. */
const PublicLink = ({ check: { id } }: { check: Check }) => {
  const isOn = useBoot().data?.public_verification === true;
  // Loaded before it is copied: browsers allow copying only while they handle the press.
  const link = useApiQuery<CheckLink>('checks', `/checks/${id}/link`, { enabled: isOn, every: false });
  // The operator may have turned public verification off since the page was opened.
  if (!isOn || isNotFound(link.error)) return null;
  return (
    <>
      <h3>Public link</h3>
      <p className="hint">
        Anyone with this link can view and verify this check without an account. They can read the entire check,
        including your reference, your input and the trader details you sent.
      </p>
      <QueryView query={link}>
        {({ url }) => (
          <>
            <p>
              <code>{url}</code>
            </p>
            <div className="actions">
              <CopyButton text={url} what="the public link" label="Copy public link" />
            </div>
          </>
        )}
      </QueryView>
    </>
  );
};

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
        <DownloadLink path={`/checks/${check.id}/evidence`} fileName={`${check.id}.json`}>
          Download evidence
        </DownloadLink>
        <DocumentLink path={`/checks/${check.id}/certificate.pdf`} document="certificate">
          Certificate (PDF)
        </DocumentLink>
        {timestamp !== null && (
          <DownloadButton path={`/checks/${check.id}/timestamp.tsr`} fileName={`${check.id}.tsr`}>
            Download time-stamp
          </DownloadButton>
        )}
        <Changing>
          {timestamp === null && !check.test && !stamp.isSuccess && (
            <Button isPending={stamp.isPending} onPress={() => stamp.mutate()}>
              Request time-stamp
            </Button>
          )}
        </Changing>
      </div>
      <PublicLink check={check} />
    </Card>
  );
};
