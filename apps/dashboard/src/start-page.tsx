import './styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isTransient } from './api/errors.js';
import { applyTheme, readTheme } from './shell/theme.js';

/** Retries after one and two more seconds, when the rate limit window has passed. */
const RETRIES = 2;

/** Renders a page of the build into its document. `staleTimeMs`: how long a result of a query is shown without asking again. */
export const startPage = (staleTimeMs: number, render: (queries: QueryClient) => ReactNode): void => {
  const root = document.getElementById('root');
  if (!root) return;
  applyTheme(readTheme());
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < RETRIES && isTransient(error),
        staleTime: staleTimeMs,
      },
    },
  });
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>{render(queries)}</QueryClientProvider>
    </StrictMode>,
  );
};
