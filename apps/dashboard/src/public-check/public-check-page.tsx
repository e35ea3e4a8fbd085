import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound, parseJson, readError } from '../api/errors.js';
import type { PublicVerification } from '../api/shapes.js';
import { retryInterval } from '../api/use-api-query.js';
import { GRADE_MEANINGS } from '../pages/check/evidence-grade.js';
import { SOURCE_NAMES } from '../pages/check/names.js';
import { countryName } from '../parts/format.js';
import { QueryView } from '../parts/states.js';
import { Brand, Card, DateTime, Facts, IdText, Page, Status } from '../parts/text.js';
import type { Finding } from '../proof/finding.js';
import { type HashedCheck, verifyPublicCheck } from '../proof/verify-public-check.js';
import { ProofCard } from './proof-card.js';

const DEADLINE_MS = 15_000;

const dataPathOf = (link: string): string => `/verify/${link}.json`;

/** Loads the data of a link. Throws ApiError, the TypeError of fetch, or an Error when the service does not answer in time. */
const load = async (link: string): Promise<PublicVerification> => {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const response = await fetch(dataPathOf(link), { headers: { Accept: 'application/json' }, signal });
    if (!response.ok) throw await readError(response);
    return await parseJson<PublicVerification>(response);
  } catch (error) {
    if (signal.aborted) throw new Error('The service did not answer in time.');
    throw error;
  }
};

const Layout = ({ children }: { children: ReactNode }) => (
  <div className="public">
    <header className="brand">
      <Brand />
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

type AssuranceProps = { findings: readonly Finding[]; data: PublicVerification; isTest: boolean };

/** The outcome of the verification in one sentence. */
const Assurance = ({ findings, data, isTest }: AssuranceProps) => {
  if (!findings.every(({ holds }) => holds))
    return (
      <p role="alert" className="assurance bad">
        <strong>Verification failed.</strong> The data was changed after it was recorded, or it is damaged. Do not rely
        on this check.
      </p>
    );
  if (isTest)
    return (
      <p role="status" className="assurance warn">
        <strong>This is a test check.</strong> Its data comes from a sandbox and proves nothing about the VAT number.
      </p>
    );
  return data.proof ? (
    <p role="status" className="assurance good">
      <strong>Verified in your browser.</strong> The check is in the service’s chain of anchors and has not changed
      since.
    </p>
  ) : (
    <p role="status" className="assurance warn">
      <strong>The hash is verified in your browser.</strong> The check is not in an anchor yet.
    </p>
  );
};

/** What the check says. Reference, input and trader of the caller are left out: they are of no use to other readers. */
const ResultCard = ({ check }: { check: HashedCheck }) => (
  <Card title="Result" hint="What the sources said at the time of the check, as the service recorded it.">
    <Facts
      facts={{
        Checked: (
          <>
            <DateTime at={check.checked_at} exact /> <code>{check.checked_at}</code>
          </>
        ),
        'Member state': `${check.country_code} · ${countryName(check.country_code)}`,
        'Evidence grade': check.evidence_grade && (
          <>
            <Status word={check.evidence_grade} /> {!check.test && GRADE_MEANINGS[check.evidence_grade]}
          </>
        ),
        Name: check.name,
        Address: check.address && <span className="lines">{check.address}</span>,
        Requester: check.requester_vat_number,
        'Consultation number': check.consultation_number,
        Sources: (
          <ul>
            {check.checks.map(({ source, outcome, contradicts, started_at }) => (
              <li key={`${source} ${started_at}`}>
                {SOURCE_NAMES[source]} <Status word={outcome} /> {contradicts && <Status word="contradicts" />}
              </li>
            ))}
          </ul>
        ),
        'Check ID': <IdText id={check.id} what="the check ID" />,
      }}
    />
    {check.name === null && check.verdict === 'valid' && !check.test && (
      <p className="hint">VIES states no name for this number. Some member states never disclose one.</p>
    )}
  </Card>
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
          <DateTime at={check.checked_at} exact />
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
  const query = useQuery({
    queryKey: ['verification', link],
    queryFn: () => load(link),
    refetchInterval: retryInterval,
  });
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
