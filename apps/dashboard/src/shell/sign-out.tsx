import { ApiError } from '../api/api-error.js';
import { useChange } from '../api/use-change.js';
import { Button } from '../parts/button.js';
import { Refusal } from '../parts/refusal.js';
import { usePlanned } from '../parts/use-planned.js';
import { useEnter } from '../session/use-enter.js';

/** Does what is still put off, which needs the session; then ends it on the server, then here. */
export const SignOut = () => {
  const enter = useEnter();
  const planned = usePlanned();
  const signOut = useChange([], async (api) => {
    try {
      await planned.finish();
      await api.call('DELETE', '/session');
    } catch (error) {
      // A session that has ended already is what was wanted.
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    }
    enter(null);
  });
  return (
    <>
      <Button small look="quiet" isPending={signOut.isPending} onPress={() => signOut.mutate(undefined)}>
        Sign out
      </Button>
      <Refusal error={signOut.error} />
    </>
  );
};
