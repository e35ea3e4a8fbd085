import { useState } from 'react';
import { addressOf } from '../../api/create-api.js';
import type { Check } from '../../api/shapes.js';
import { useApi } from '../../api/use-api.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Facts } from '../../parts/facts.js';
import { IdText } from '../../parts/id-text.js';
import { Refusal } from '../../parts/refusal.js';
import { type Finding, verifyCheck } from './verify-check.js';

/** The proof of a check: its hash, the bytes it is of, and a way to see in this very browser that they agree. */
export const EvidenceCard = ({ check }: { check: Check }) => {
  const api = useApi();
  const [findings, setFindings] = useState<Finding[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    setError(null);
    try {
      setFindings(await verifyCheck({ api, crypto: globalThis.crypto })(check));
    } catch (thrown) {
      setFindings(null);
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title="Evidence"
      hint="The hash is of the check's canonical form (RFC 8785). Whoever holds those bytes can prove what was answered and when."
      actions={
        <Button small look="primary" isPending={isBusy} onPress={() => void verify()}>
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
      <Refusal error={error} />
      {findings && (
        <ul className="findings" role="status">
          {findings.map(({ holds, text }) => (
            <li key={text} className={holds ? 'holds' : 'fails'}>
              <strong>{holds ? 'Holds' : 'Does not hold'}</strong> {text}
            </li>
          ))}
        </ul>
      )}
      <p className="actions">
        <a className="button" href={addressOf(`/checks/${check.id}/evidence`)} download={`${check.id}.json`}>
          Download the bytes
        </a>
      </p>
    </Card>
  );
};
