import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading } from './loading.js';
import { Refusal } from './refusal.js';

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
