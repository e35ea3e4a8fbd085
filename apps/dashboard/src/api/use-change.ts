import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Api } from './create-api.js';
import { invalidate } from './invalidate.js';
import type { Topic } from './topics.js';
import { useApi } from './use-api.js';

/**
 * A call that changes something; what it is about is read again afterwards, also when it was refused. Until it is answered,
 * `mutate` and `reset` do nothing: a second press comes before React has shown that the first one's call is under way.
 */
export const useChange = <Input, Output>(
  topics: readonly Topic[],
  change: (api: Api, input: Input) => Promise<Output>,
): UseMutationResult<Output, Error, Input> => {
  const api = useApi();
  const queries = useQueryClient();
  const isUnderWay = useRef(false);
  const mutation = useMutation({
    mutationFn: (input: Input) => change(api, input),
    onSettled: () => {
      isUnderWay.current = false;
      invalidate(queries)(...topics);
    },
  });
  return {
    ...mutation,
    mutate: (...given) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      mutation.mutate(...given);
    },
    reset: () => {
      if (!isUnderWay.current) mutation.reset();
    },
  };
};
