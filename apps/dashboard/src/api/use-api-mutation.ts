import { notifyManager, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Api, useApi } from './create-api.js';
import { ApiError } from './errors.js';
import { invalidate, REMOVAL, type Topic } from './use-api-query.js';

/** The shortest time for which a call is pending, whatever the service takes: longer than a double click. */
const MIN_PENDING_MS = 300;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A mutation that invalidates the queries of its topics when it settles, also after an error. While it is pending, `mutate`
 * and `reset` do nothing, so that a double click or a second press of Enter creates no second check and rotates no second
 * secret. The service often responds between two such presses; therefore a call is pending for at least
 * {@link MIN_PENDING_MS}. `untilRead`: a successful call is pending until the queries show what it has changed.
 */
export const useApiMutation = <Output, Input = void>(
  topics: readonly Topic[],
  change: (api: Api, input: Input) => Promise<Output>,
  { untilRead = false } = {},
): UseMutationResult<Output, Error, Input> => {
  const api = useApi();
  const queries = useQueryClient();
  // The second press can arrive before React renders the pending state of the first, or between the response and the page
  // that shows it.
  const isInFlight = useRef(false);
  const hasSettled = useRef(false);
  const mutation = useMutation({
    mutationFn: async (input: Input) => {
      const shortest = pause(MIN_PENDING_MS);
      try {
        return await change(api, input);
      } finally {
        await shortest;
      }
    },
    onSettled: async (_output, error) => {
      const read = invalidate(queries)(...topics);
      if (untilRead && !error) await read;
      hasSettled.current = true;
    },
  });
  useLayoutEffect(() => {
    if (hasSettled.current && !mutation.isPending) isInFlight.current = false;
  });
  return {
    ...mutation,
    mutate: (...parameters) => {
      if (isInFlight.current) return;
      isInFlight.current = true;
      hasSettled.current = false;
      mutation.mutate(...parameters);
    },
    reset: () => {
      if (!isInFlight.current) mutation.reset();
    },
  };
};

/**
 * The value of a control that `save` saves at once, and its setter. The control shows what the user chose until the page has
 * rendered the queries that `save` has updated. `saved`: the value in those queries.
 */
export const useChoice = <T>(saved: T, save: UseMutationResult<unknown, Error, T>): [T, (wanted: T) => void] => {
  const [chosen, setChosen] = useState<T | null>(null);
  const choose = (wanted: T): void => {
    if (chosen !== null) return;
    setChosen(wanted);
    // Queued after the updates of the queries: cleared earlier, the control would show the former value for a moment.
    save.mutate(wanted, { onSettled: () => notifyManager.schedule(() => setChosen(null)) });
  };
  return [chosen ?? saved, choose];
};

/** The value of a field that follows `saved` until the user edits it. */
type Edit<T> = {
  value: T;
  /** What the user has entered; null while the field follows. */
  edited: T | null;
  edit: (value: T) => void;
  /** Makes the field follow again, unless the user has changed `sent` since. To be called once queries show what was saved. */
  follow: (sent: T) => void;
};

/** A field whose value is saved by a button, and may meanwhile be changed elsewhere. */
export const useEdit = <T>(saved: T): Edit<T> => {
  const [edited, setEdited] = useState<T | null>(null);
  return {
    value: edited ?? saved,
    edited,
    edit: setEdited,
    // Queued after the updates of the queries: cleared earlier, the field would show the former value for a moment.
    follow: (sent) => notifyManager.schedule(() => setEdited((current) => (current === sent ? null : current))),
  };
};

/** Whether the component is still shown: a call that ends after the user has left its page must not navigate. */
export const useIsShown = (): RefObject<boolean> => {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
};

/**
 * Deletes the object of a page, leaves the page if it is still shown, and then refetches the lists. The order prevents a
 * refetch of the deleted object.
 */
export const useDelete = (
  topic: Topic,
  path: string,
  leave: () => Promise<void>,
): UseMutationResult<void, Error, void> => {
  const api = useApi();
  const queries = useQueryClient();
  const isShown = useIsShown();
  return useMutation({
    mutationKey: [REMOVAL, path],
    mutationFn: async () => {
      // A query without data is not cancelled: it would stay empty if the deletion fails.
      await queries.cancelQueries({
        queryKey: [topic],
        predicate: ({ queryKey: [, at], state }) => String(at).startsWith(path) && state.data !== undefined,
      });
      await api.call('DELETE', path);
      const query = { queryKey: [topic, path] };
      if (isShown.current) {
        await leave();
        queries.removeQueries(query);
      } else {
        // The user may have come back to the page, which then says that the object is gone.
        void queries.invalidateQueries(query);
      }
      void invalidate(queries)(topic);
    },
  });
};

/** How often a call waits for its running first attempt before it fails. */
const MAX_WAITS = 5;

// crypto.randomUUID exists only over https; getRandomValues exists everywhere.
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

/** Whether the outcome of the call is unknown: the response was lost, or the first attempt is still running. */
const isOutcomeUnknown = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS';

/**
 * Sends a call with an Idempotency-Key. A retry of the same `content` (compared part by part) reuses the key until a
 * response arrives, so that it creates no duplicate. After a response the next call gets a new key. A first attempt that is
 * still running is awaited. Rethrows the errors of `send`.
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
        if (!isOutcomeUnknown(error)) last.current = null;
        const isRunning = error instanceof ApiError && error.code === 'IDEMPOTENCY_IN_PROGRESS';
        if (!isRunning || waits === MAX_WAITS) throw error;
        await pause((error.extra.retry_after ?? 1) * 1_000);
      }
    }
  };
};
