import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { invalidate, LiveContext, type Topic } from '../api/use-api-query.js';

/** Updates within this time cause one refetch per topic: a batch can send thousands. */
const COALESCE_MS = 300;
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 60_000;

/** Subscribes to page updates and invalidates the queries they concern. */
export const LiveUpdates = ({ children }: { children: ReactNode }) => {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);

  useEffect(() => {
    let source: EventSource | null = null;
    let reconnectTimer: ReturnType<typeof setTimeout> | undefined;
    let flushTimer: ReturnType<typeof setTimeout> | undefined;
    let retryMs = FIRST_RETRY_MS;
    const topics = new Set<Topic>();
    const flush = () => {
      flushTimer = undefined;
      void invalidate(queries)(...topics);
      topics.clear();
    };
    const open = () => {
      source = new EventSource('/app/api/news');
      source.onopen = () => {
        setOpen(true);
        retryMs = FIRST_RETRY_MS;
        // Updates may have been missed while disconnected.
        void queries.invalidateQueries();
      };
      source.addEventListener('changed', (event) => {
        topics.add((JSON.parse(event.data) as { topic: Topic }).topic);
        flushTimer ??= setTimeout(flush, COALESCE_MS);
      });
      source.onerror = () => {
        setOpen(false);
        // In other states the browser reconnects by itself.
        if (source?.readyState !== EventSource.CLOSED) return;
        reconnectTimer = setTimeout(open, retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      };
    };
    const close = () => {
      source?.close();
      clearTimeout(reconnectTimer);
      clearTimeout(flushTimer);
      flushTimer = undefined;
      setOpen(false);
    };
    // Over HTTP/1.1 a browser has six connections per host for all windows, so hidden windows release theirs.
    const reconnectIfVisible = () => {
      close();
      if (!document.hidden) open();
    };
    reconnectIfVisible();
    document.addEventListener('visibilitychange', reconnectIfVisible);
    return () => {
      document.removeEventListener('visibilitychange', reconnectIfVisible);
      close();
    };
  }, [queries]);

  return <LiveContext value={isOpen}>{children}</LiveContext>;
};
