import { useQueryClient } from '@tanstack/react-query';
import type { Notifications as Choice } from '../../api/shapes.js';
import { useApiMutation, useChoice } from '../../api/use-api-mutation.js';
import { showSaved, useApiQuery } from '../../api/use-api-query.js';
import { Checkbox } from '../../parts/form.js';
import { ErrorAlert, QueryView } from '../../parts/states.js';
import { Card } from '../../parts/text.js';
import { useSession } from '../../session/session.js';

const PATH = '/notifications';

type Kind = Exclude<keyof Choice, 'mail_configured'>;

const KINDS: readonly { kind: Kind; label: string; hint: string }[] = [
  {
    kind: 'failed_deliveries',
    label: 'Failed deliveries',
    hint: 'All attempts to send an event to your webhook failed.',
  },
  { kind: 'quota', label: 'Quota', hint: '80% and 100% of the checks of the month are used.' },
  { kind: 'completed_batches', label: 'Completed batches', hint: 'All lines of a batch have ended.' },
  { kind: 'watch_changes', label: 'Changes of watches', hint: 'A watched number has another status, name or address.' },
];

/** One kind of e-mail, which is saved at once. From the click until then it shows what the user chose. */
const KindChoice = ({ kind, label, hint, isOn }: (typeof KINDS)[number] & { isOn: boolean }) => {
  const queries = useQueryClient();
  const save = useApiMutation(['notifications'], async (api, wanted: boolean) => {
    const saved = await api.call<Choice>('PATCH', PATH, { body: { [kind]: wanted } });
    // The other kinds in this answer may be older than another change.
    await showSaved<Choice>(queries, 'notifications', PATH, (shown) =>
      shown ? { ...shown, [kind]: saved[kind] } : saved,
    );
  });
  const [isSelected, choose] = useChoice(isOn, save);
  return (
    <>
      <Checkbox label={label} hint={hint} isSelected={isSelected} onChange={choose} />
      <ErrorAlert error={save.error} />
    </>
  );
};

/** The e-mail that the user gets. */
export const Notifications = () => {
  const { account } = useSession();
  const choice = useApiQuery<Choice>('notifications', PATH, { every: false });
  return (
    <Card title="Notifications" hint={`By e-mail to ${account.email}, at most one an hour of each kind.`}>
      <QueryView query={choice}>
        {({ mail_configured: isConfigured, ...kinds }) => (
          <div className="stack">
            {!isConfigured && (
              <p role="note">This service sends no e-mail: its operator has not configured a mail server.</p>
            )}
            {KINDS.map((one) => (
              <KindChoice key={one.kind} {...one} isOn={kinds[one.kind]} />
            ))}
          </div>
        )}
      </QueryView>
    </Card>
  );
};
