import { addressOf } from '../../api/create-api.js';
import type { Check } from '../../api/shapes.js';
import { useApi } from '../../api/use-api.js';
import { useChange } from '../../api/use-change.js';
import { useSameTry } from '../../api/use-same-try.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { DownloadButton } from '../../parts/download-button.js';
import { Facts } from '../../parts/facts.js';
import { Findings } from '../../parts/findings.js';
import { IdText } from '../../parts/id-text.js';
import { Refusal } from '../../parts/refusal.js';
import { useVerify } from '../../parts/use-verify.js';
import { verifyCheck } from '../../proof/verify-check.js';
import { AnchorFacts } from './anchor-facts.js';
import { TimestampFacts } from './timestamp-facts.js';

/** The proof of a check: its hash, the bytes it is of, and a way to see in this very browser that they agree. */
export const EvidenceCard = ({ check }: { check: Check }) => {
  const api = useApi();
  const verify = useVerify(() => verifyCheck({ api, crypto: globalThis.crypto })(check));
  const sameTry = useSameTry();
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
