import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { Topic } from '../api/use-read.js';
import { invalidate } from '../api/use-read.js';
import { LiveContext } from './live-context.js';

/** Bursts of news (a batch of ten thousand lines) make one reading of each topic in this time. */
const COALESCE_MS = 300;
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 60_000;

/** Listens to the server's news while it is shown and has what they are about read again. */
export const LiveUpdates = ({ children }: { children: ReactNode }) => {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);

  useEffect(() => {
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;
    const topics = new Set<Topic>();
    const tell = () => {
      gathering = undefined;
      invalidate(queries)(...topics);
      topics.clear();
    };
    const open = () => {
      source = new EventSource('/app/api/news');
      source.onopen = () => {
        setOpen(true);
        retryMs = FIRST_RETRY_MS;
        // What happened while nobody listened.
        void queries.invalidateQueries();
      };
      source.addEventListener('changed', (event) => {
        topics.add((JSON.parse(event.data) as { topic: Topic }).topic);
        gathering ??= setTimeout(tell, COALESCE_MS);
      });
      source.onerror = () => {
        setOpen(false);
        // Otherwise the browser itself connects again.
        if (source?.readyState !== EventSource.CLOSED) return;
        again = setTimeout(open, retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      };
    };
    const close = () => {
      source?.close();
      clearTimeout(again);
      clearTimeout(gathering);
      gathering = undefined;
      setOpen(false);
    };
    // Over HTTP/1.1 a browser has six connections for all of its windows: those that nobody looks at must not hold one.
    const look = () => {
      close();
      if (!document.hidden) open();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      close();
    };
  }, [queries]);

  return <LiveContext value={isOpen}>{children}</LiveContext>;
};
