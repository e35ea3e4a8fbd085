import { Link } from '@tanstack/react-router';
import { addressOf, useApi } from '../../api/create-api.js';
import type { Check } from '../../api/shapes.js';
import { useChange, useIdempotencyKey } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { DownloadButton } from '../../parts/confirm.js';
import { count } from '../../parts/format.js';
import { Findings, Refusal, useVerify } from '../../parts/states.js';
import { Card, Facts, IdText, Moment, Status } from '../../parts/text.js';
import { verifyCheck } from '../../proof/verify-check.js';

/** Where a check lies in the tree of its anchor. */
const AnchorFacts = ({ anchor }: { anchor: NonNullable<Check['anchor']> }) => (
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

/** What a check's time-stamp says, and what it is worth. */
const TimestampFacts = ({ timestamp }: { timestamp: NonNullable<Check['timestamp']> }) => (
  <>
    <Facts
      facts={{
        Stamped: (
          <>
            <Moment at={timestamp.gen_time} seconds />
            {timestamp.accuracy_ms !== null && ` ± ${timestamp.accuracy_ms} ms`}
          </>
        ),
        Authority: (
          <>
            {timestamp.authority} {timestamp.development && <Status word="development" />}
          </>
        ),
        Serial: <code>{timestamp.serial}</code>,
        Policy: <code>{timestamp.policy}</code>,
      }}
    />
    {timestamp.development && (
      <p className="hint">
        A development authority of this service itself: it proves nothing about time to anybody else.
      </p>
    )}
  </>
);

/** The proof of a check: its hash, the bytes it is of, and a way to see in this very browser that they agree. */
export const EvidenceCard = ({ check }: { check: Check }) => {
  const api = useApi();
  const verify = useVerify(() => verifyCheck({ api, crypto: globalThis.crypto })(check));
  const sameTry = useIdempotencyKey();
  const stamp = useChange(['checks'], (caller, _input: undefined) =>
    sameTry([check.id], (headers) => caller.call('POST', `/checks/${check.id}/timestamp`, { headers })),
  );
  const { timestamp, anchor } = check;
  return (
    <Card
      title="Evidence"
      hint="The hash is of the check's canonical form (RFC 8785). Whoever holds those bytes can prove what was answered and when."
      actions={
        <Button small look="primary" isPending={verify.isPending} onPress={() => verify.mutate()}>
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
      <Refusal error={verify.error ?? stamp.error} />
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
        <p className="hint">It is anchored with the next closing; this page then shows where.</p>
      )}
      {stamp.isSuccess && timestamp === null && <p role="status">The time-stamp is asked for and appears here.</p>}
      <div className="actions">
        <a className="button" href={addressOf(`/checks/${check.id}/evidence`)} download={`${check.id}.json`}>
          Download the bytes
        </a>
        <a className="button" href={addressOf(`/checks/${check.id}/certificate.pdf`)} download={`${check.id}.pdf`}>
          Certificate (PDF)
        </a>
        {timestamp !== null && (
          <DownloadButton path={`/checks/${check.id}/timestamp.tsr`} fileName={`${check.id}.tsr`}>
            Download the time-stamp
          </DownloadButton>
        )}
        {timestamp === null && !check.test && !stamp.isSuccess && (
          <Button isPending={stamp.isPending} onPress={() => stamp.mutate(undefined)}>
            Request a time-stamp
          </Button>
        )}
      </div>
    </Card>
  );
};
