import { LiveNews } from '../live/live-news.js';
import { Loading } from '../parts/loading.js';
import { Refusal } from '../parts/refusal.js';
import { useBoot } from '../session/use-boot.js';
import { Shell } from './shell.js';
import { ToSignIn } from './to-sign-in.js';

/** Everything that needs a session: asks who is there, and sends visitors to sign in and then back to where they wanted. */
export const SignedIn = () => {
  const boot = useBoot();
  if (boot.data === undefined) {
    return (
      <main className="alone">{boot.error ? <Refusal error={boot.error} onRetry={boot.refetch} /> : <Loading />}</main>
    );
  }
  if (!boot.data.session) return <ToSignIn />;
  return (
    <LiveNews>
      <Shell />
    </LiveNews>
  );
};
