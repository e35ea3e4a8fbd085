import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type ErrorContext, explainError } from '../api/errors.js';
import type { Finding } from '../proof/finding.js';
import { Button } from './button.js';

/** Placeholder for an empty list, with an explanation and an optional action. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children && <p className="hint">{children}</p>}
    {action}
  </div>
);

/** Placeholder while data loads. CSS shows it only after a delay. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);

type ErrorAlertProps = ErrorContext & { error: unknown; onRetry?: (() => unknown) | undefined };

/** Cause and remedy of an error, as an alert. Renders nothing without an error. */
export const ErrorAlert = ({ error, onRetry, ...context }: ErrorAlertProps) => {
  if (error === null || error === undefined) return null;
  const { cause, remedy, requestId } = explainError(error, context);
  return (
    <div role="alert" className="error-alert">
      <p>
        <strong>{cause}</strong> {remedy}
      </p>
      {requestId !== null && (
        <p className="hint">
          Request ID: <code>{requestId}</code>
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

/** Renders the data of a query, and above it the error of a failed refetch. Without data it renders the error or a placeholder. */
export const QueryView = <T,>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) => {
  const { data, error, refetch } = query;
  if (data === undefined) return error ? <ErrorAlert error={error} onRetry={refetch} /> : <Loading />;
  return (
    <>
      {error && <ErrorAlert error={error} onRetry={refetch} />}
      {children(data)}
    </>
  );
};

/** The results of a verification. */
export const Findings = ({ findings }: { findings: readonly Finding[] }) => (
  <div role="status">
    <ul className="findings">
      {findings.map(({ holds, text }) => (
        <li key={text} className={holds ? 'holds' : 'fails'}>
          <strong>{holds ? 'Verified' : 'Not verified'}</strong> {text}
        </li>
      ))}
    </ul>
  </div>
);
