import { type UseMutationResult, type UseQueryResult, useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { explainError } from '../api/errors.js';
import type { Finding } from '../proof/verify-check.js';
import { Button } from './button.js';
import { Page } from './text.js';

/** What stands where there is nothing yet: what will be here, and what to do first. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children && <p className="hint">{children}</p>}
    {action}
  </div>
);

/** Stands where something is on its way; appears only when that takes noticeably long. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);

type NotFoundProps = { what: string; list: '/checks' | '/batches' | '/watches' | '/deliveries' };

/** What stands at the address of a thing that is not there, is no longer, or is somebody else's. */
export const NotFound = ({ what, list }: NotFoundProps) => (
  <Page title={`${what} not found`}>
    <p role="alert" className="refusal">
      <span>
        <strong>{what} not found.</strong> It may have been removed, or the address is mistyped.{' '}
        <Link to={list}>Go back to the list.</Link>
      </span>
    </p>
  </Page>
);

/** What went wrong and what to do about it, read out at once. Shows nothing without an error. */
export const Refusal = ({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) => {
  if (error === null || error === undefined) return null;
  const { cause, remedy, requestId } = explainError(error);
  return (
    <div role="alert" className="refusal">
      <p>
        <strong>{cause}</strong> {remedy}
      </p>
      {requestId !== null && (
        <p className="hint">
          Number of this call: <code>{requestId}</code>
        </p>
      )}
      {onRetry && (
        <Button small onPress={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  );
};

/** Shows what was read, and above it why it is no longer up to date; before that, that it is on its way, and why it did not come. */
export const Reading = <T,>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ReactNode }) => {
  const { data, error, refetch } = of;
  if (data === undefined) return error ? <Refusal error={error} onRetry={refetch} /> : <Loading />;
  return (
    <>
      {error && <Refusal error={error} onRetry={refetch} />}
      {children(data)}
    </>
  );
};

/** Verifying on request: what was found, or why it could not be looked at. */
export const useVerify = (verify: () => Promise<Finding[]>): UseMutationResult<Finding[], Error, void> =>
  useMutation({ mutationFn: verify });

/** What was verified, each with whether it holds. */
export const Findings = ({ findings }: { findings: readonly Finding[] }) => (
  <ul className="findings" role="status">
    {findings.map(({ holds, text }) => (
      <li key={text} className={holds ? 'holds' : 'fails'}>
        <strong>{holds ? 'Holds' : 'Does not hold'}</strong> {text}
      </li>
    ))}
  </ul>
);
