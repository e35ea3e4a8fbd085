import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound, readError } from '../api/errors.js';
import type { PublicVerification } from '../api/shapes.js';
import { QueryView } from '../parts/states.js';
import { DateTime, Page, Status } from '../parts/text.js';
import { verifyPublicCheck } from '../proof/verify-public-check.js';
import { Assurance } from './assurance.js';
import { ProofCard } from './proof-card.js';
import { ResultCard } from './result-card.js';

const DEADLINE_MS = 15_000;

const dataPathOf = (link: string): string => `/verify/${link}.json`;

/** Loads the data of a link. Throws ApiError, the TypeError of fetch, or an Error when the service does not answer in time. */
const load = async (link: string): Promise<PublicVerification> => {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const response = await fetch(dataPathOf(link), { headers: { Accept: 'application/json' }, signal });
    if (!response.ok) throw await readError(response);
    return (await response.json()) as PublicVerification;
  } catch (error) {
    if (signal.aborted) throw new Error('The service did not answer in time.');
    throw error;
  }
};

const Layout = ({ children }: { children: ReactNode }) => (
  <div className="public">
    <header className="brand">
      <img src="/app/icon.svg" alt="" width="28" height="28" />
      <span>VAT Validation Service</span>
    </header>
    <main>{children}</main>
  </div>
);

/** The same for every link without a check, so that it reveals nothing about why. */
const NotFound = () => (
  <Page title="No check found">
    <p role="alert" className="error-alert">
      <span>
        <strong>This link shows no check.</strong> It may be incomplete, the check may have been deleted at the end of
        its retention, or the operator may have turned off public links. Contact the person who gave you the link.
      </span>
    </p>
  </Page>
);

const Loaded = ({ data, link }: { data: PublicVerification; link: string }) => {
  const [id = ''] = link.split('.');
  const { check, findings } = verifyPublicCheck(data, id);
  const outcome = <Assurance findings={findings} data={data} isTest={check?.test === true} />;
  const proof = <ProofCard data={data} findings={findings} path={dataPathOf(link)} />;
  // What is not verified is not shown, least of all a verdict.
  if (!check || !findings.every(({ holds }) => holds))
    return (
      <Page title="VAT number check">
        {outcome}
        {proof}
      </Page>
    );
  return (
    <Page
      title={check.vat_number}
      lead={
        <p className="lead-line">
          <Status word={check.verdict} /> {check.test && <Status word="test" />}
          <DateTime at={check.checked_at} seconds />
        </p>
      }
    >
      {outcome}
      <ResultCard check={check} />
      {proof}
    </Page>
  );
};

/** The public page of one check. `link`: the check's id and the token, as in the address. */
export const PublicCheckPage = ({ link }: { link: string }) => {
  const query = useQuery({ queryKey: ['verification', link], queryFn: () => load(link) });
  if (isNotFound(query.error))
    return (
      <Layout>
        <NotFound />
      </Layout>
    );
  return (
    <Layout>
      <QueryView query={query}>{(data) => <Loaded data={data} link={link} />}</QueryView>
    </Layout>
  );
};
