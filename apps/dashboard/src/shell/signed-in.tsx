import { Navigate, useLocation } from '@tanstack/react-router';
import { LiveNews } from '../live/live-news.js';
import { Loading } from '../parts/loading.js';
import { Refusal } from '../parts/refusal.js';
import { useBoot } from '../session/use-boot.js';
import { Shell } from './shell.js';

/** Everything that needs a session: asks who is there, and sends visitors to sign in and then back to where they wanted. */
export const SignedIn = () => {
  const boot = useBoot();
  const { href } = useLocation();
  if (boot.data === undefined) {
    return (
      <main className="alone">{boot.error ? <Refusal error={boot.error} onRetry={boot.refetch} /> : <Loading />}</main>
    );
  }
  if (!boot.data.session) return <Navigate to="/sign-in" search={href === '/' ? {} : { next: href }} replace />;
  return (
    <LiveNews>
      <Shell />
    </LiveNews>
  );
};
