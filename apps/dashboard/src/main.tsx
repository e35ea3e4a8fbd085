import { RouterProvider } from '@tanstack/react-router';
import { ApiContext, createApi } from './api/create-api.js';
import { createAppRouter } from './create-app-router.js';
import { createDeferredActions, DeferredActionsContext } from './parts/deferred-actions.js';
import { awaitSignIn, BOOT, type Boot, followOtherWindows, shownSession } from './session/session.js';
import { startPage } from './start-page.js';

startPage(2_000, (queries) => {
  const api = createApi({
    session: () => shownSession(queries.getQueryData<Boot>(BOOT)),
    onOutdatedSession: () => void queries.invalidateQueries({ queryKey: BOOT }),
    onSessionEnd: awaitSignIn(queries),
  });
  followOtherWindows(queries);
  return (
    <ApiContext value={api}>
      <DeferredActionsContext value={createDeferredActions()}>
        <RouterProvider router={createAppRouter()} />
      </DeferredActionsContext>
    </ApiContext>
  );
});
