import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router'
import { t, type Key } from './i18n'
import { useSession, type Role } from './stores/session'

declare module 'vue-router' {
  interface RouteMeta {
    title: Key
    role?: Role
    /** For those who are not logged in. */
    isOpen?: boolean
  }
}

const routes: RouteRecordRaw[] = [
  { path: '/login', name: 'login', component: () => import('./views/LoginView.vue'), meta: { title: 'login.title', isOpen: true } },
  { path: '/password', name: 'password', component: () => import('./views/PasswordView.vue'), meta: { title: 'login.change_title', isOpen: true } },
  {
    path: '/',
    component: () => import('./components/AppLayout.vue'),
    children: [
      { path: '', name: 'dashboard', component: () => import('./views/DashboardView.vue'), meta: { title: 'nav.dashboard' } },
      { path: 'apps', name: 'apps', component: () => import('./views/AppsView.vue'), meta: { title: 'nav.apps' } },
      { path: 'apps/new', name: 'app-new', component: () => import('./views/AppNewView.vue'), meta: { title: 'apps.new', role: 'operator' } },
      { path: 'apps/:id', name: 'app', component: () => import('./views/AppView.vue'), props: true, meta: { title: 'nav.apps' } },
      { path: 'apps/:id/quota', name: 'quota', component: () => import('./views/QuotaView.vue'), props: true, meta: { title: 'apps.edit_quota', role: 'operator' } },
      { path: 'clusters', name: 'clusters', component: () => import('./views/ClustersView.vue'), meta: { title: 'nav.clusters' } },
      { path: 'connections', name: 'connections', component: () => import('./views/ConnectionsView.vue'), meta: { title: 'nav.connections' } },
      { path: 'emergency', name: 'emergency', component: () => import('./views/EmergencyView.vue'), meta: { title: 'nav.emergency' } },
      { path: 'alerts', name: 'alerts', component: () => import('./views/AlertsView.vue'), meta: { title: 'nav.alerts' } },
      { path: 'refusals', name: 'refusals', component: () => import('./views/RefusalsView.vue'), meta: { title: 'nav.refusals' } },
      { path: 'explain/:id?', name: 'explain', component: () => import('./views/ExplainView.vue'), props: true, meta: { title: 'nav.explain' } },
      { path: 'versions', name: 'versions', component: () => import('./views/VersionsView.vue'), meta: { title: 'nav.versions' } },
      { path: 'audit', name: 'audit', component: () => import('./views/AuditView.vue'), meta: { title: 'nav.audit' } },
      { path: 'settings', name: 'settings', component: () => import('./views/SettingsView.vue'), meta: { title: 'nav.settings' } },
      { path: ':rest(.*)*', name: 'nowhere', component: () => import('./views/NowhereView.vue'), meta: { title: 'common.not_found' } },
    ],
  },
]

export const router = createRouter({ history: createWebHistory(), routes })

router.beforeEach(async (to) => {
  const session = useSession()
  await session.resume()
  if (!session.user) {
    if (to.name === 'login') return true
    return { name: 'login', query: to.fullPath === '/' ? {} : { next: to.fullPath } }
  }
  if (session.mustChange) return to.name === 'password' ? true : { name: 'password' }
  if (to.name === 'login') return { name: 'dashboard' }
  if (to.meta.role && !session.can(to.meta.role)) return { name: 'dashboard' }
  return true
})

router.afterEach((to) => {
  document.title = `${t(to.meta.title)} · Tollgate`
})
