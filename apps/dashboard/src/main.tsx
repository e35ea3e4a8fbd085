import './styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiContext, createApi } from './api/create-api.js';
import { isPassing } from './api/errors.js';
import { createAppRouter } from './create-app-router.js';
import { createPlannedActs, PlannedContext } from './parts/planned-acts.js';
import { BOOT, type Boot, SESSION_CHANNEL } from './session/session.js';
import { applyTheme, readTheme } from './shell/theme.js';

/** After one second, and after two more: by then the calls of the last second no longer count. */
const RETRIES = 2;

const start = (root: HTMLElement): void => {
  applyTheme(readTheme());
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < RETRIES && isPassing(error),
        staleTime: 2_000,
      },
    },
  });
  const api = createApi({
    csrfToken: () => queries.getQueryData<Boot>(BOOT)?.session?.csrf_token ?? null,
    onSignedOut: () => queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session: null }),
  });
  new BroadcastChannel(SESSION_CHANNEL).onmessage = () => void queries.invalidateQueries({ queryKey: BOOT });
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <ApiContext value={api}>
          <PlannedContext value={createPlannedActs()}>
            <RouterProvider router={createAppRouter()} />
          </PlannedContext>
        </ApiContext>
      </QueryClientProvider>
    </StrictMode>,
  );
};

const root = document.getElementById('root');
if (root) start(root);
