//! Logging in and out.

use crate::auth::access::LIFETIME_S;
use crate::auth::caller::CallerKind;
use crate::auth::{Caller, ClientIp, Known, Role, password};
use crate::clock;
use crate::form::Form;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::server::origin;
use crate::state::{Admin, Shared};
use crate::store::{Rotation, SessionRow, UserRow};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How long a session lasts without being used, in seconds: a week.
const SESSION_S: i64 = 7 * 86_400;

/// Where the refresh token is kept in a browser.
const COOKIE: &str = "tollgate_refresh";

/// The only path that it is sent to.
const COOKIE_PATH: &str = "/api/v1/session";

/// Who logs in.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct Login {
    /// The account.
    #[schema(min_length = 1, max_length = 64)]
    username: String,
    /// Its password.
    #[schema(min_length = 1, max_length = 256)]
    password: String,
}

/// A session that was opened, or goes on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionOpened {
    /// What to send as `Authorization: Bearer`. To be kept in memory only.
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    /// For how many seconds the access token is good.
    expires_in: i64,
    /// Whose it is.
    user: Me,
}

/// Who is calling.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    /// The name.
    username: String,
    /// What they may do.
    role: Role,
    /// Whether the password has to be changed before anything else.
    must_change_password: bool,
}

/// A new password.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct NewPassword {
    /// The password until now.
    #[schema(min_length = 1, max_length = 256)]
    current: String,
    /// The password from now on: 12 characters or more, and another one.
    #[schema(min_length = 12, max_length = 256)]
    new: String,
}

/// Logs in. The refresh token comes as a cookie that only this API sees.
#[utoipa::path(post, path = "/api/v1/login", tag = "session", request_body = Login, security(()),
    responses((status = 200, description = "a session was opened", body = SessionOpened, headers(("Set-Cookie" = String)))))]
pub(crate) async fn login(
    State(admin): State<Shared>,
    ClientIp(ip): ClientIp,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let username = form.text("username", 1..=64);
    let password = form.text("password", 1..=password::MAX_LENGTH);
    form.finish()?;
    admin.throttle.login(&username, ip)?;
    let user = admin.store.user(&username.replace('\0', "")).await?.filter(|user| user.is_enabled);
    let hash = user.as_ref().map(|user| user.password.clone());
    let is_right = password::verify(password, hash).await;
    let Some(user) = user.filter(|_| is_right) else {
        // Names that do not exist are not written down: people type passwords there.
        tracing::info!(%ip, "a login was refused");
        return Err(Problem::unauthorized("the name or the password is wrong"));
    };
    let now = clock::wall();
    let (id, refresh) = (secret::ordered_id()?, secret::token()?);
    let session = SessionRow {
        id: id.clone(),
        user: user.name.clone(),
        generation: user.generation,
        hash: secret::digest(&refresh),
        created_at: now,
        expires_at: now + SESSION_S * 1_000,
        ip: ip.to_string(),
    };
    admin.store.add_session(&session).await?;
    admin.store.saw_login(&user.name, now).await?;
    let opened = opened(&admin, &user, &id, now)?;
    let kind = CallerKind::User { session: id.clone(), must_change: user.must_change };
    let caller = Caller { name: user.name, kind, role: opened.user.role, ip };
    admin.audit(&caller, "session.login", &caller.name, None, None).await?;
    Ok((cookie(&admin, &format!("{id}.{refresh}"), SESSION_S), Json(opened)))
}

/// Goes on with a session: takes the refresh token of the cookie, and gives another.
#[utoipa::path(post, path = "/api/v1/session/refresh", tag = "session", security(()),
    responses((status = 200, description = "the session goes on", body = SessionOpened, headers(("Set-Cookie" = String)))))]
pub(crate) async fn refresh(
    State(admin): State<Shared>,
    ClientIp(ip): ClientIp,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    origin::check(&admin, &headers)?;
    let over = || Problem::unauthorized("there is no session, or it is over: log in");
    let (id, token) = refresh_cookie(&headers).ok_or_else(over)?;
    let (new, now) = (secret::token()?, clock::wall());
    let rotation = admin.store.rotate(&id, &secret::digest(&token), &secret::digest(&new), now).await?;
    let (user, is_new) = match rotation {
        Rotation::Rotated { user } => (user, true),
        Rotation::JustRotated { user } => (user, false),
        Rotation::Reused { user } => {
            tracing::warn!(user, %ip, "a refresh token was used twice, the session is over");
            return Err(over());
        }
        Rotation::Unknown => return Err(over()),
    };
    let user = admin.store.user(&user).await?.filter(|user| user.is_enabled).ok_or_else(over)?;
    let cookies = is_new
        .then(|| cookie(&admin, &format!("{id}.{new}"), SESSION_S))
        .into_iter()
        .flatten()
        .collect::<HeaderMap>();
    Ok((cookies, Json(opened(&admin, &user, &id, now)?)))
}

/// Logs out: the session is over, whatever of it is still out.
#[utoipa::path(post, path = "/api/v1/logout", tag = "session", extensions(("x-required-role" = json!("known"))),
    responses((status = 204, description = "the session is over", headers(("Set-Cookie" = String)))))]
pub(crate) async fn logout(
    State(admin): State<Shared>,
    Known(caller): Known,
) -> Result<impl IntoResponse, Problem> {
    if let CallerKind::User { session, .. } = &caller.kind {
        admin.store.end_session(session).await?;
        admin.audit(&caller, "session.logout", &caller.name, None, None).await?;
    }
    Ok((StatusCode::NO_CONTENT, cookie(&admin, "", 0)))
}

/// Tells who is calling.
#[utoipa::path(get, path = "/api/v1/me", tag = "session", extensions(("x-required-role" = json!("known"))),
    responses((status = 200, description = "the caller", body = Me)))]
pub(crate) async fn me(Known(caller): Known) -> Json<Me> {
    let must_change_password = matches!(caller.kind, CallerKind::User { must_change: true, .. });
    Json(Me { username: caller.name, role: caller.role, must_change_password })
}

/// Changes the caller's password. Every session but this one is over.
#[utoipa::path(put, path = "/api/v1/me/password", tag = "session", request_body = NewPassword,
    extensions(("x-required-role" = json!("known"))),
    responses((status = 200, description = "the password was changed", body = SessionOpened, headers(("Set-Cookie" = String)))))]
pub(crate) async fn change_password(
    State(admin): State<Shared>,
    Known(caller): Known,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let current = form.text("current", 1..=password::MAX_LENGTH);
    let new = form.text("new", password::MIN_LENGTH..=password::MAX_LENGTH);
    if !new.is_empty() && new == current {
        form.fault(FieldError::new("new", "conflict", "the same as before", "another password"));
    }
    form.finish()?;
    if matches!(caller.kind, CallerKind::Token { .. }) {
        return Err(Problem::forbidden("a token has no password"));
    }
    admin.throttle.password(&caller.name)?;
    let user =
        admin.store.user(&caller.name).await?.ok_or_else(|| Problem::unauthorized("no such account"))?;
    if !password::verify(current, Some(user.password.clone())).await {
        let error = FieldError::new(
            "current",
            "conflict",
            "not the password of this account",
            "the password until now",
        );
        return Err(Problem::invalid(vec![error]));
    }
    let hash = password::hash(new).await.ok_or(secret::NoRandomness)?;
    if !admin.store.change_password(&user, &hash).await? {
        return Err(Problem::unauthorized("the account was changed meanwhile: log in"));
    }
    // As it is now: if somebody changes it again, what is opened here is over.
    let user = UserRow { generation: user.generation + 1, must_change: false, ..user };
    admin.audit(&caller, "user.password", &caller.name, None, None).await?;
    let (id, refresh, now) = (secret::ordered_id()?, secret::token()?, clock::wall());
    let session = SessionRow {
        id: id.clone(),
        user: user.name.clone(),
        generation: user.generation,
        hash: secret::digest(&refresh),
        created_at: now,
        expires_at: now + SESSION_S * 1_000,
        ip: caller.ip.to_string(),
    };
    admin.store.add_session(&session).await?;
    Ok((cookie(&admin, &format!("{id}.{refresh}"), SESSION_S), Json(opened(&admin, &user, &id, now)?)))
}

fn opened(admin: &Admin, user: &UserRow, session: &str, now: i64) -> Result<SessionOpened, Problem> {
    let unknown = || Problem::unauthorized("the account has no role");
    let role = Role::parse(&user.role).ok_or_else(unknown)?;
    let token = admin.keys.sign(&user.name, session, user.generation, now);
    let access_token = token.ok_or_else(|| Problem::unavailable("no access token could be signed"))?;
    let user = Me { username: user.name.clone(), role, must_change_password: user.must_change };
    Ok(SessionOpened { access_token, token_type: "Bearer", expires_in: LIFETIME_S, user })
}

fn cookie(admin: &Admin, value: &str, max_age: i64) -> [(HeaderName, HeaderValue); 1] {
    let secure = if admin.settings.secure_cookies { "; Secure" } else { "" };
    let text =
        format!("{COOKIE}={value}; Path={COOKIE_PATH}; HttpOnly; SameSite=Strict; Max-Age={max_age}{secure}");
    [(header::SET_COOKIE, HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("")))]
}

/// Session and refresh token, as the cookie has them.
fn refresh_cookie(headers: &HeaderMap) -> Option<(String, String)> {
    let values = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let value = pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value).next()?;
    let (id, token) = value.split_once('.')?;
    Some((id.to_owned(), token.to_owned()))
}
