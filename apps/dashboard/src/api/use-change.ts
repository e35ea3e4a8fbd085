import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import type { Api } from './create-api.js';
import { invalidate } from './invalidate.js';
import type { Topic } from './topics.js';
import { useApi } from './use-api.js';

/** A call that changes something; what it is about is read again afterwards, also when it was refused. */
export const useChange = <Input, Output>(
  topics: readonly Topic[],
  change: (api: Api, input: Input) => Promise<Output>,
): UseMutationResult<Output, Error, Input> => {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(api, input),
    onSettled: () => invalidate(queries)(...topics),
  });
};
