import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Webhook } from '../../api/shapes.js';
import { useApiMutation, useEdit } from '../../api/use-api-mutation.js';
import { showSaved, useApiQuery } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Field, Form } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card, DateTime, Facts, SecretOnce } from '../../parts/text.js';
import { Changing, useMay } from '../../session/session.js';

/** The endpoint causes no page updates, and another owner or window can change it, so it is polled. */
const POLL_INTERVAL_MS = 4_000;

type Settings = { webhook: Webhook | null };

/** The endpoint of the account; null when none is configured. */
export const useWebhook = (): UseQueryResult<Settings> =>
  useApiQuery<Settings>('settings', '/settings', { every: POLL_INTERVAL_MS });

type Saved = Webhook & { secret: string };

/** The endpoint of the account: save, show the secret once, test, remove. */
export const WebhookCard = () => {
  const mayChange = useMay('change');
  const settings = useWebhook();
  const webhook = settings.data?.webhook ?? null;
  const savedUrl = webhook?.url ?? '';
  // While the field has the focus, the text that it shows does not change: an endpoint that loads later would end up beside
  // what the user pastes.
  const [atFocus, setAtFocus] = useState<string | null>(null);
  const field = useEdit(atFocus ?? savedUrl);
  // The router looks for the target of a link before the page shows this card.
  useEffect(() => {
    if (window.location.hash === '#webhook') document.getElementById('webhook')?.scrollIntoView();
  }, []);
  // Separate from the mutation: a later failed call must not hide the secret.
  const [saved, setSaved] = useState<Saved | null>(null);

  const queries = useQueryClient();
  const show = (shown: Webhook | null) =>
    showSaved<Settings>(queries, 'settings', '/settings', () => ({ webhook: shown }));
  const save = useApiMutation(['settings'], async (api, url: string) => {
    const answer = await api.call<Saved>('PUT', '/webhook', { body: { url } });
    setSaved(answer);
    const { secret: _, ...shown } = answer;
    await show(shown);
  });
  const sendTest = useApiMutation(['deliveries'], (api) => api.call<{ delivery_id: string }>('POST', '/webhook/test'));
  const remove = useApiMutation(['settings', 'deliveries'], async (api) => {
    await api.call('DELETE', '/webhook');
    await show(null);
  });
  const clear = () => {
    save.reset();
    sendTest.reset();
    remove.reset();
  };
  // The secret is outdated once the webhook is removed or saved again, also by another owner or in another window.
  const secret = saved && webhook && webhook.configured_at <= saved.configured_at ? saved.secret : null;
  return (
    <div id="webhook">
      <Card
        title="Webhook"
        hint="Sends events about pending checks, batches and watches to your server. The URL must use https and resolve to a public address."
      >
        <Changing>
          <Form
            className="inline-form"
            onBeforeSubmit={clear}
            onSubmit={() => {
              const url = field.value;
              const onSuccess = () => {
                field.follow(url);
                setAtFocus((text) => (text === null ? null : url));
              };
              save.mutate(url, { onSuccess });
            }}
          >
            <Field
              label="Endpoint URL"
              inputMode="url"
              value={field.value}
              onChange={field.edit}
              onFocus={() => setAtFocus(savedUrl)}
              onBlur={() => {
                setAtFocus(null);
                if (atFocus !== null) field.follow(atFocus);
              }}
              placeholder="https://example.com/vat-events"
              autoComplete="off"
              isRequired
            />
            <Button type="submit" variant="primary" isPending={save.isPending}>
              Save
            </Button>
          </Form>
        </Changing>
        <ErrorAlert error={save.error ?? sendTest.error ?? remove.error ?? settings.error} />
        {secret !== null && <SecretOnce what="secret" text={secret} />}
        {webhook && secret === null && (
          <Facts
            facts={{
              'Endpoint URL': mayChange && field.value === webhook.url ? null : webhook.url,
              Secret: (
                <>
                  <code>{webhook.secret_prefix}…</code>{' '}
                  <Changing>
                    <span className="hint">Save again to generate a new secret.</span>
                  </Changing>
                </>
              ),
              Configured: <DateTime at={webhook.configured_at} />,
            }}
          />
        )}
        <Changing>
          <div className="actions">
            <Button isPending={sendTest.isPending} onPress={() => sendTest.mutate()}>
              Send test event
            </Button>
            {webhook && (
              <Confirm
                action="Remove"
                question="Remove the webhook?"
                isPending={remove.isPending}
                onConfirm={() => {
                  save.reset();
                  remove.mutate(undefined, { onSuccess: () => field.follow(field.value) });
                }}
              >
                <p>
                  This also deletes its secret. Pending deliveries fail, and adding a webhook later does not resend
                  them.
                </p>
              </Confirm>
            )}
          </div>
        </Changing>
        {!mayChange && settings.data && !webhook && <p className="hint">No webhook is configured.</p>}
        {sendTest.data && (
          <p role="status">
            Test event created.{' '}
            <Link to="/deliveries/$id" params={{ id: sendTest.data.delivery_id }}>
              View delivery
            </Link>
          </p>
        )}
      </Card>
    </div>
  );
};
