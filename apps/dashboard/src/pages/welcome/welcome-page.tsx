import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Check, Delivery } from '../../api/shapes.js';
import { type Page as ListPage, useApiQuery } from '../../api/use-api-query.js';
import { QueryView } from '../../parts/states.js';
import { Card, Page, SecretOnce } from '../../parts/text.js';
import { Changing, useSession } from '../../session/session.js';
import { useWebhook } from '../settings/webhook-card.js';

/** The keys of a new account. Only the response to sign-up contains them. */
export type FirstKeys = { live_key: string; test_key: string };

/** Query key of the first keys, which are stored until the page is reloaded. */
export const FIRST_KEYS = ['first-keys'] as const;

/** Read again for each page: the steps of before would change before the eyes of the user. */
const NEWEST = { query: { limit: 1 }, gcTime: 0 };

/** The newest check of the account, if there is one. */
export const useNewestCheck = () => useApiQuery<ListPage<Check>>('checks', '/checks', NEWEST);

type Step = {
  isDone: boolean;
  title: string;
  text: string;
  action: string;
  link: { to: '/checks/new' | '/settings' | '/deliveries'; hash?: string };
};

/** Checklist for a new account, shown once it is known which steps are done. */
export const FirstSteps = () => {
  const checks = useNewestCheck();
  const deliveries = useApiQuery<ListPage<Delivery>>('deliveries', '/webhook/deliveries', NEWEST);
  const webhook = useWebhook();
  const unread = [checks, deliveries, webhook].find(({ data }) => data === undefined);
  if (unread) {
    return (
      <Card title="First steps">
        <QueryView<unknown> query={unread}>{() => null}</QueryView>
      </Card>
    );
  }
  const steps: Step[] = [
    {
      isDone: (checks.data?.data.length ?? 0) > 0,
      title: 'Make your first check',
      text: 'Check a VAT number you know, then view the result and its evidence.',
      action: 'Start',
      link: { to: '/checks/new' },
    },
    {
      isDone: Boolean(webhook.data?.webhook),
      title: 'Set up your webhook',
      text: 'Some member states answer slowly. Your webhook receives the result when it arrives.',
      action: 'Set up',
      link: { to: '/settings', hash: 'webhook' },
    },
    {
      isDone: (deliveries.data?.data.length ?? 0) > 0,
      title: 'Send a test event',
      text: 'View the delivery, the response of your server and the signature headers.',
      action: 'Go to deliveries',
      link: { to: '/deliveries' },
    },
  ];
  return (
    <Card title="First steps">
      <ol className="steps">
        {steps.map(({ isDone, title, text, action, link }, index) => (
          <li key={title} className={isDone ? 'done' : undefined}>
            <span className="step-mark" aria-hidden="true">
              {isDone ? '✓' : index + 1}
            </span>
            <div>
              <p>
                <strong>{title}</strong> {isDone && <span className="visually-hidden">(done)</span>}
              </p>
              <p className="hint">{text}</p>
            </div>
            {!isDone && (
              <Link {...link} className="button small">
                {action}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
};

/** The page after sign-up: the keys, shown once, and the first steps. */
export const WelcomePage = () => {
  const { account } = useSession();
  const queries = useQueryClient();
  const [keys] = useState(() => queries.getQueryData<FirstKeys>(FIRST_KEYS));
  return (
    <Page title="Welcome" lead={<p>Your account {account.name} is ready.</p>}>
      {keys && (
        <Card title="Your API keys">
          <SecretOnce what="test key" text={keys.test_key} />
          <SecretOnce what="live key" text={keys.live_key} />
          <p className="hint">
            The test key uses a sandbox and is free of charge. DE100 is valid, DE200 is invalid, and DE700 is pending
            for a few seconds. Try it:
          </p>
          <pre className="code">{`curl ${location.origin}/v1/checks \\
  -H 'Authorization: Bearer ${keys.test_key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"vat_number": "DE100"}'`}</pre>
        </Card>
      )}
      <Changing>
        <FirstSteps />
      </Changing>
    </Page>
  );
};
