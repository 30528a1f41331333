import 'element-plus/theme-chalk/base.css'
import 'element-plus/theme-chalk/dark/css-vars.css'
import './style.css'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { i18n } from './i18n'
import { router } from './router'
import { usePreferences } from './stores/preferences'

const app = createApp(App).use(createPinia()).use(i18n)
// Before the first picture, so that it is in the right colours and words.
usePreferences()
app.use(router).mount('#app')
