import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Check, Delivery } from '../../api/shapes.js';
import type { Page } from '../../api/use-pages.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { useWebhook } from '../settings/use-webhook.js';

const ONE = { query: { limit: 1 } };

type Step = { isDone: boolean; title: string; text: string; action: ReactNode };

/** What a new account does first, each step ticked once it is done. */
export const FirstSteps = () => {
  const checks = useRead<Page<Check>>('checks', '/checks', ONE);
  const deliveries = useRead<Page<Delivery>>('deliveries', '/webhook/deliveries', ONE);
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
