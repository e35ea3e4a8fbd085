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
  title: (data: T) => string;
  /** The word of its status, and what follows it on the line below the title. */
  status: (data: T) => string;
  lead: (data: T) => ReactNode;
  actions?: (data: T) => ReactNode;
  /** The error of an action. */
  error?: unknown;
  children: (data: T) => ReactNode;
};

/** The page of one object, or a not-found page for an object that does not exist or belongs to another account. */
export const DetailPage = <T,>({ what, list, query, error, children, ...page }: DetailPageProps<T>) => {
  const { data } = query;
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
      title={data ? page.title(data) : what}
      lead={
        data && (
          <p className="lead-line">
            <Status word={page.status(data)} /> {page.lead(data)}
          </p>
        )
      }
      actions={data && page.actions?.(data)}
    >
      <ErrorAlert error={error} />
      <QueryView query={query}>{children}</QueryView>
    </Page>
  );
};
