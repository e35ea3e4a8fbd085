import { useRef } from 'react';
import { ApiError } from './api-error.js';

/** How often a first try that still runs is waited for before that is shown. */
const MOST_WAITS = 5;

// randomUUID exists only over https; this exists everywhere.
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

/** Whether nobody knows what became of the call: it was lost on its way, or its first try still runs. */
const isOpen = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS';

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));

/**
 * Sends what must be made once with an Idempotency-Key: the same as before while the last try got no answer and `content`
 * (compared part by part) is the same, so that trying again makes no second one; a new one after an answer, so that asking
 * for the same again does. A first try that still runs is waited for. Throws what `send` throws.
 */
export const useSameTry = () => {
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
        if (!isRunning || waits === MOST_WAITS) throw error;
        await seconds(error.extra.retry_after ?? 1);
      }
    }
  };
};
