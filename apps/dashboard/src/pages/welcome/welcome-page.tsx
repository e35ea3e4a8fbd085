import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Check, Delivery } from '../../api/shapes.js';
import { type Page as ListPage, useRead } from '../../api/use-read.js';
import { Card, Page, SecretOnce } from '../../parts/text.js';
import { useSession } from '../../session/session.js';
import { useWebhook } from '../settings/webhook-card.js';

/** The two keys of a new account, which only the answer of signing up holds. */
export type FirstKeys = { live_key: string; test_key: string };

/** Under which they are remembered until the page is loaded anew. */
export const FIRST_KEYS = ['first-keys'] as const;

const ONE = { query: { limit: 1 } };

type Step = { isDone: boolean; title: string; text: string; action: ReactNode };

/** What a new account does first, each step ticked once it is done. */
export const FirstSteps = () => {
  const checks = useRead<ListPage<Check>>('checks', '/checks', ONE);
  const deliveries = useRead<ListPage<Delivery>>('deliveries', '/webhook/deliveries', ONE);
  const webhook = useWebhook();
  const steps: Step[] = [
    {
      isDone: (checks.data?.data.length ?? 0) > 0,
      title: 'Make a first check',
      text: 'Ask VIES about a number you know, and look at the answer and its evidence.',
      action: (
        <Link to="/checks/new" className="button small">
          Start
        </Link>
      ),
    },
    {
      isDone: Boolean(webhook.data?.webhook),
      title: 'Set up the webhook',
      text: 'Some member states take their time. Your server is told when their answer comes.',
      action: (
        <Link to="/settings" hash="webhook" className="button small">
          Set it up
        </Link>
      ),
    },
    {
      isDone: (deliveries.data?.data.length ?? 0) > 0,
      title: 'Send a test event',
      text: 'See it arrive, what your server answered, and how its signature is made.',
      action: (
        <Link to="/deliveries" className="button small">
          Try it
        </Link>
      ),
    },
  ];
  return (
    <Card title="First steps">
      <ol className="steps">
        {steps.map(({ isDone, title, text, action }, index) => (
          <li key={title} className={isDone ? 'done' : undefined}>
            <span className="step-mark" aria-hidden="true">
              {isDone ? '✓' : index + 1}
            </span>
            <div>
              <p>
                <strong>{title}</strong> {isDone && <span className="for-reader">(done)</span>}
              </p>
              <p className="hint">{text}</p>
            </div>
            {!isDone && action}
          </li>
        ))}
      </ol>
    </Card>
  );
};

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
