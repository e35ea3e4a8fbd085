import '../styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isTransient } from '../api/errors.js';
import { applyTheme, readTheme } from '../shell/theme.js';
import { PublicCheckPage } from './public-check-page.js';

/** Retries after one and two more seconds, when the rate limit window has passed. */
const RETRIES = 2;

const start = (root: HTMLElement): void => {
  applyTheme(readTheme());
  const queries = new QueryClient({
    defaultOptions: { queries: { retry: (failures, error) => failures < RETRIES && isTransient(error) } },
  });
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <PublicCheckPage link={window.location.pathname.split('/')[2] ?? ''} />
      </QueryClientProvider>
    </StrictMode>,
  );
};

const root = document.getElementById('root');
if (root) start(root);
