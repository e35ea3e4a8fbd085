import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isNotFound } from '../api/errors.js';
import { ErrorAlert, QueryView } from './states.js';
import { Page, Status } from './text.js';

type DetailPageProps<T> = {
  /** The kind of the object, and the title until it is loaded. */
  what: string;
  list: '/checks' | '/batches' | '/coverage' | '/watches' | '/deliveries';
  query: UseQueryResult<T>;
  /** The title, and on the line below it the word of the status and what follows it. */
  head: (data: T) => { title: string; status: string; lead: ReactNode };
  actions?: (data: T) => ReactNode;
  /** The error of an action. */
  error?: unknown;
  children: (data: T) => ReactNode;
};

/** The page of one object, or a not-found page for an object that does not exist or belongs to another account. */
export const DetailPage = <T,>({ what, list, query, head, actions, error, children }: DetailPageProps<T>) => {
  const { data } = query;
  const shown = data && head(data);
  if (isNotFound(query.error)) {
    return (
      <Page title={`${what} not found`}>
        <p role="alert" className="error-alert">
          <span>
            <strong>{what} not found.</strong> It may have been deleted, or the address may be wrong.{' '}
            <Link to={list}>Go back to the list.</Link>
          </span>
        </p>
      </Page>
    );
  }
  return (
    <Page
      title={shown?.title ?? what}
      lead={
        shown && (
          <p className="lead-line">
            <Status word={shown.status} /> {shown.lead}
          </p>
        )
      }
      actions={data && actions?.(data)}
    >
      <ErrorAlert error={error} />
      <QueryView query={query}>{children}</QueryView>
    </Page>
  );
};
