import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Acceptance, Check } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useSameTry } from '../../api/use-same-try.js';
import { Page } from '../../parts/page.js';
import { CheckForm, type NewCheck } from './check-form.js';
import { RequestOutcome } from './request-outcome.js';
import { Waiting } from './waiting.js';

/** Ask about one number and see the answer come; one that takes long goes on in the background, here and elsewhere. */
export const NewCheckPage = () => {
  const { request, vat_number } = useSearch({ from: '/signed-in/checks/new' });
  const navigate = useNavigate({ from: '/checks/new' });
  const sameTry = useSameTry();
  const ask = useChange(['checks'], async (api, body: NewCheck) => {
    const answer = await sameTry([JSON.stringify(body)], (headers) =>
      api.call<Check | Acceptance>('POST', '/checks', { body, headers }),
    );
    return answer.request_id;
  });
  const submit = (body: NewCheck) => {
    void navigate({ search: {}, replace: true });
    ask.mutate(body, { onSuccess: (id) => void navigate({ search: { request: id }, replace: true }) });
  };
  return (
    <Page
      title="New check"
      lead={<p>One VAT number of the 27 member states or Northern Ireland, asked of VIES now.</p>}
    >
      <div className="columns">
        <CheckForm
          onTry={ask.reset}
          onSubmit={submit}
          isPending={ask.isPending}
          vatNumber={vat_number ?? ''}
          error={ask.error}
        />
        <div aria-live="polite">
          {ask.isPending && <Waiting vatNumber={ask.variables.vat_number} />}
          {request !== undefined && !ask.isPending && <RequestOutcome id={request} />}
        </div>
      </div>
    </Page>
  );
};
