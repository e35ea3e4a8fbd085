import './styles/index.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiContext, createApi } from './api/create-api.js';
import { isTransient } from './api/errors.js';
import { createAppRouter } from './create-app-router.js';
import { createDeferredActions, DeferredActionsContext } from './parts/deferred-actions.js';
import { BOOT, type Boot, SESSION_CHANNEL } from './session/session.js';
import { applyTheme, readTheme } from './shell/theme.js';

/** Retries after one and two more seconds, when the rate limit window has passed. */
const RETRIES = 2;

const start = (root: HTMLElement): void => {
  applyTheme(readTheme());
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < RETRIES && isTransient(error),
        staleTime: 2_000,
      },
    },
  });
  const api = createApi({
    csrfToken: () => queries.getQueryData<Boot>(BOOT)?.session?.csrf_token ?? null,
    onForbidden: () => void queries.invalidateQueries({ queryKey: BOOT }),
    onSignedOut: () => queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session: null }),
  });
  new BroadcastChannel(SESSION_CHANNEL).onmessage = () => void queries.invalidateQueries({ queryKey: BOOT });
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <ApiContext value={api}>
          <DeferredActionsContext value={createDeferredActions()}>
            <RouterProvider router={createAppRouter()} />
          </DeferredActionsContext>
        </ApiContext>
      </QueryClientProvider>
    </StrictMode>,
  );
};

const root = document.getElementById('root');
if (root) start(root);
