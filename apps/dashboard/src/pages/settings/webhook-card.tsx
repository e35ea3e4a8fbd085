import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useRead } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Field, Form } from '../../parts/form.js';
import { Refusal } from '../../parts/states.js';
import { Card, Facts, Moment, SecretOnce } from '../../parts/text.js';

/** The account's endpoint, null when there is none. */
export const useWebhook = (): UseQueryResult<{ webhook: Webhook | null }> =>
  useRead<{ webhook: Webhook | null }>('settings', '/settings', { every: false });

type Saved = Webhook & { secret: string };

/** The account's one endpoint: save it, see its secret this once, try it, remove it. */
export const WebhookCard = () => {
  const settings = useWebhook();
  const webhook = settings.data?.webhook ?? null;
  // Null until somebody types: the endpoint that is read later must not take the place of what they typed.
  const [typed, setTyped] = useState<string | null>(null);
  const url = typed ?? webhook?.url ?? '';
  // Apart from the call that brought it: a later one that is refused leaves what it saved as it is.
  const [saved, setSaved] = useState<Saved | null>(null);

  const save = useChange(['settings'], (api, given: string) =>
    api.call<Saved>('PUT', '/webhook', { body: { url: given } }),
  );
  const sendTest = useChange(['deliveries'], (api, _input: undefined) =>
    api.call<{ delivery_id: string }>('POST', '/webhook/test'),
  );
  const remove = useChange(['settings', 'deliveries'], (api, _input: undefined) => api.call('DELETE', '/webhook'));
  const clear = () => {
    save.reset();
    sendTest.reset();
    remove.reset();
  };
  // Removed here or elsewhere, or saved again in another window, it is a secret no more.
  const secret = saved && webhook && webhook.configured_at <= saved.configured_at ? saved.secret : null;
  return (
    <div id="webhook">
      <Card
        title="Webhook"
        hint="Tells your server when a pending check, a batch or a watched number has news. The URL must be https and lead to a public address."
      >
        <Form className="inline-form" onTry={clear} onSubmit={() => save.mutate(url, { onSuccess: setSaved })}>
          <Field
            label="Endpoint URL"
            inputMode="url"
            value={url}
            onChange={setTyped}
            placeholder="https://example.com/vat-events"
            autoComplete="off"
            isRequired
          />
          <Button type="submit" look="primary" isPending={save.isPending}>
            Save
          </Button>
        </Form>
        <Refusal error={save.error ?? sendTest.error ?? remove.error ?? settings.error} />
        {secret !== null && <SecretOnce what="secret" text={secret} />}
        {webhook && secret === null && (
          <Facts
            facts={{
              Secret: (
                <>
                  <code>{webhook.secret_prefix}…</code> <span className="hint">Save again for a new one.</span>
                </>
              ),
              Configured: <Moment at={webhook.configured_at} />,
            }}
          />
        )}
        <div className="actions">
          <Button isPending={sendTest.isPending} onPress={() => sendTest.mutate(undefined)}>
            Send test event
          </Button>
          {webhook && (
            <Confirm
              action="Remove"
              question="Remove the webhook?"
              onConfirm={() => {
                save.reset();
                remove.mutate(undefined, { onSuccess: () => setTyped('') });
              }}
            >
              <p>
                What still waits to be delivered ends as failed, and the secret is gone. Setting an endpoint again
                revives none of it.
              </p>
            </Confirm>
          )}
        </div>
        {sendTest.data && (
          <p role="status">
            The test event is on its way:{' '}
            <Link to="/deliveries/$id" params={{ id: sendTest.data.delivery_id }}>
              see how it goes
            </Link>
          </p>
        )}
      </Card>
    </div>
  );
};
