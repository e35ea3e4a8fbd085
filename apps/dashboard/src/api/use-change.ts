import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { type Api, useApi } from './create-api.js';
import { ApiError } from './errors.js';
import { invalidate, REMOVAL, type Topic } from './use-read.js';

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

/**
 * Deletes what a page is about, leaves the page, and only then has the lists read again: what is gone must not be asked for
 * once more.
 */
export const useRemoval = (
  topic: Topic,
  path: string,
  leave: () => Promise<void>,
): UseMutationResult<void, Error, void> => {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationKey: [REMOVAL, path],
    mutationFn: async () => {
      // What has never been read must not be left without its first reading when the deletion is refused.
      await queries.cancelQueries({
        queryKey: [topic],
        predicate: ({ queryKey: [, at], state }) => String(at).startsWith(path) && state.data !== undefined,
      });
      await api.call('DELETE', path);
      await leave();
      queries.removeQueries({ queryKey: [topic, path] });
      invalidate(queries)(topic);
    },
  });
};

/** How often a first try that still runs is waited for before that is shown. */
const MAX_WAITS = 5;

// randomUUID exists only over https; this exists everywhere.
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

/** Whether nobody knows what became of the call: it was lost on its way, or its first try still runs. */
const isOpen = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS';

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));

/**
 * Sends what must be made once with an Idempotency-Key: the same as before while the last try got no answer and `content`
 * (compared part by part) is the same, so that trying again makes no second one; a new one after an answer, so that lookingUp
 * for the same again does. A first try that still runs is waited for. Throws what `send` throws.
 */
export const useIdempotencyKey = () => {
  const last = useRef<{ content: readonly unknown[]; key: string } | null>(null);
  return async <Output>(
    content: readonly unknown[],
    send: (headers: { 'Idempotency-Key': string }) => Promise<Output>,
  ): Promise<Output> => {
    const isSame = last.current?.content.every((part, index) => Object.is(part, content[index]));
    const key = isSame && last.current ? last.current.key : newKey();
    last.current = { content, key };
    for (let waits = 0; ; waits += 1) {
      try {
        const answer = await send({ 'Idempotency-Key': key });
        last.current = null;
        return answer;
      } catch (error) {
        if (!isOpen(error)) last.current = null;
        const isRunning = error instanceof ApiError && error.code === 'IDEMPOTENCY_IN_PROGRESS';
        if (!isRunning || waits === MAX_WAITS) throw error;
        await seconds(error.extra.retry_after ?? 1);
      }
    }
  };
};
