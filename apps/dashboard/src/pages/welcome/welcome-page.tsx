import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Card } from '../../parts/card.js';
import { Page } from '../../parts/page.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { useSession } from '../../session/use-session.js';
import { FIRST_KEYS, type FirstKeys } from './first-keys.js';
import { FirstSteps } from './first-steps.js';

/** After signing up: the keys for the only time, and what to do first. */
export const WelcomePage = () => {
  const { account } = useSession();
  const queries = useQueryClient();
  const [keys] = useState(() => queries.getQueryData<FirstKeys>(FIRST_KEYS));
  return (
    <Page title="Welcome" lead={<p>{account.name} is ready.</p>}>
      {keys && (
        <Card title="Your keys">
          <SecretOnce what="test key" text={keys.test_key} />
          <SecretOnce what="live key" text={keys.live_key} />
          <p className="hint">
            The test key is answered by a sandbox and costs nothing: DE100 is valid, DE200 is not, DE700 takes a moment.
            Try it:
          </p>
          <pre className="code">{`curl ${location.origin}/v1/checks \\
  -H 'Authorization: Bearer ${keys.test_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"vat_number": "DE100"}'`}</pre>
        </Card>
      )}
      <FirstSteps />
    </Page>
  );
};
