//! Accounts.

use super::etag::{IfMatch, etag, tag};
use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::auth::account::is_name;
use crate::auth::{Administrator, Role, password};
use crate::clock;
use crate::form::Form;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::state::{Admin, Shared};
use crate::store::UserRow;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Ordering;
use utoipa::{IntoParams, ToSchema};

/// An account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct User {
    /// Its name.
    username: String,
    /// What it may do.
    role: Role,
    /// Whether it can be used.
    enabled: bool,
    /// Whether its password has to be changed before anything else.
    must_change_password: bool,
    /// When it was made, in milliseconds since 1970.
    created_at: i64,
    /// When it was last used to log in.
    last_login_at: Option<i64>,
}

/// A new account.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct NewUser {
    /// Its name.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._@-]+$")]
    username: String,
    /// What it may do.
    role: Role,
    /// Its first password, which has to be changed; a random one is made and told once if it is left out.
    #[schema(min_length = 12, max_length = 256)]
    password: Option<String>,
}

/// What an account may do from now on. What is left out stays.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct UserInput {
    /// What it may do.
    role: Option<Role>,
    /// Whether it can be used.
    enabled: Option<bool>,
}

/// An account with the password that was made for it, told this once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct UserWithPassword {
    #[serde(flatten)]
    user: User,
    /// The password, if one was made.
    password: Option<String>,
}

/// Which accounts to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListUsers {
    /// Only those of this role.
    #[param(inline)]
    role: Option<Role>,
    /// Only those that can be used, or cannot.
    enabled: Option<bool>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortUsers>,
}

/// What accounts are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortUsers {
    /// Their names.
    #[default]
    Username,
    /// What they may do.
    Role,
    /// When they were made.
    CreatedAt,
    /// When they were last used to log in.
    LastLoginAt,
}

impl Entry for User {
    type Sort = SortUsers;

    fn name(&self) -> &str {
        &self.username
    }

    fn compare(&self, other: &Self, by: SortUsers) -> Ordering {
        match by {
            SortUsers::Username => self.username.cmp(&other.username),
            SortUsers::Role => self.role.cmp(&other.role),
            SortUsers::CreatedAt => self.created_at.cmp(&other.created_at),
            SortUsers::LastLoginAt => self.last_login_at.cmp(&other.last_login_at),
        }
    }

    fn is_time(by: SortUsers) -> bool {
        matches!(by, SortUsers::CreatedAt | SortUsers::LastLoginAt)
    }
}

/// Lists the accounts.
#[utoipa::path(get, path = "/api/v1/users", tag = "users", params(PageParams, ListParams, ListUsers),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "a page of accounts", body = Listed<User>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Administrator,
    asked: Asked,
    Params(params): Params<ListUsers>,
) -> Result<Json<Listed<User>>, Problem> {
    let all = admin.store.users().await?.into_iter().filter_map(shown);
    let wanted = all.filter(|user| {
        params.role.is_none_or(|role| role == user.role)
            && params.enabled.is_none_or(|enabled| enabled == user.enabled)
    });
    Ok(Json(asked.page(wanted, params.sort)))
}

/// Adds an account.
#[utoipa::path(post, path = "/api/v1/users", tag = "users", request_body = NewUser,
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 201, description = "it was added", body = UserWithPassword)))]
pub(crate) async fn create(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    mut form: Form,
) -> Result<(StatusCode, Json<UserWithPassword>), Problem> {
    let name = form.text("username", 1..=64);
    if !name.is_empty() && !is_name(&name) {
        form.fault(FieldError::new("username", "bad_id", "not a name", "1 to 64 of A-Z a-z 0-9 . _ - @"));
    }
    let role = form.role();
    let chosen = form.optional_text("password", password::MIN_LENGTH..=password::MAX_LENGTH);
    form.finish()?;
    let role = role.unwrap_or(Role::Viewer);
    let made = if chosen.is_none() { Some(secret::password()?) } else { None };
    let hash = password::hash(chosen.or_else(|| made.clone()).unwrap_or_default()).await;
    let user = UserRow {
        name: name.clone(),
        role: role.name().into(),
        password: hash.ok_or(secret::NoRandomness)?,
        must_change: true,
        is_enabled: true,
        generation: 1,
        created_at: clock::wall(),
        last_login_at: None,
    };
    if !admin.store.add_user(&user).await? {
        return Err(Problem::conflict(format!("there is an account called {name} already")));
    }
    admin.audit(&caller, "user.create", &name, None, Some(&json!({"role": role}))).await?;
    let user = existing(&admin, &name).await?;
    let user = shown(user).ok_or_else(|| Problem::not_found("account", &name))?;
    Ok((StatusCode::CREATED, Json(UserWithPassword { user, password: made })))
}

/// Shows an account.
#[utoipa::path(get, path = "/api/v1/users/{username}", tag = "users", params(("username" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "the account", body = User, headers(("ETag" = String)))))]
pub(crate) async fn get(
    State(admin): State<Shared>,
    _: Administrator,
    Segment(name): Segment<String>,
) -> Result<impl IntoResponse, Problem> {
    tagged(existing(&admin, &name).await?)
}

/// Changes what an account may do. Its sessions are over. With `If-Match` it must be as the caller has seen it.
#[utoipa::path(put, path = "/api/v1/users/{username}", tag = "users", request_body = UserInput,
    params(("username" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "it was changed", body = User, headers(("ETag" = String)))))]
pub(crate) async fn put(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
    mut form: Form,
) -> Result<impl IntoResponse, Problem> {
    let (role, enabled) = (form.word("role", &Role::ALL), form.flag("enabled"));
    form.finish()?;
    let before = existing(&admin, &name).await?;
    IfMatch::read(&headers)?.check(Some(&tag_of(&before)))?;
    let role = role.map_or(before.role.clone(), |role| role.name().to_owned());
    let enabled = enabled.unwrap_or(before.is_enabled);
    if !enabled || role != Role::Admin.name() {
        keep_an_admin(&admin, &name).await?;
    }
    if role != before.role || enabled != before.is_enabled {
        if !admin.store.set_role(&before, &role, enabled).await? {
            return Err(Problem::changed_meanwhile(&tag_of(&existing(&admin, &name).await?)));
        }
        let before = json!({"role": before.role, "enabled": before.is_enabled});
        let after = json!({"role": role, "enabled": enabled});
        admin.audit(&caller, "user.update", &name, Some(&before), Some(&after)).await?;
    }
    tagged(existing(&admin, &name).await?)
}

/// Removes an account, and revokes the tokens that it made. One that is not there is as good as removed. With `If-Match` it
/// must be as the caller has seen it.
#[utoipa::path(delete, path = "/api/v1/users/{username}", tag = "users",
    params(("username" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 204, description = "it is not there any more")))]
pub(crate) async fn delete(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let name = name.replace('\0', "\u{fffd}");
    let user = admin.store.user(&name).await?;
    IfMatch::read(&headers)?.check(user.as_ref().map(tag_of).as_deref())?;
    let Some(user) = user else { return Ok(StatusCode::NO_CONTENT) };
    keep_an_admin(&admin, &name).await?;
    admin.store.revoke_sessions(&name).await?;
    let tokens = admin.store.delete_tokens_of(&name).await?;
    admin.store.delete_user(&name).await?;
    let before = json!({"role": user.role, "enabled": user.is_enabled, "tokens": tokens});
    admin.audit(&caller, "user.delete", &name, Some(&before), None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives an account a random password, told this once. Its sessions are over.
#[utoipa::path(post, path = "/api/v1/users/{username}/password", tag = "users", params(("username" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "it has another password", body = UserWithPassword)))]
pub(crate) async fn reset_password(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(name): Segment<String>,
) -> Result<Json<UserWithPassword>, Problem> {
    existing(&admin, &name).await?;
    let password = secret::password()?;
    let hash = password::hash(password.clone()).await.ok_or(secret::NoRandomness)?;
    admin.store.set_password(&name, &hash, true).await?;
    admin.store.revoke_sessions(&name).await?;
    admin.audit(&caller, "user.password", &name, None, None).await?;
    let user = shown(existing(&admin, &name).await?).ok_or_else(|| Problem::not_found("account", &name))?;
    Ok(Json(UserWithPassword { user, password: Some(password) }))
}

/// Ends all sessions of an account.
#[utoipa::path(delete, path = "/api/v1/users/{username}/sessions", tag = "users", params(("username" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 204, description = "it has no sessions")))]
pub(crate) async fn revoke(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(name): Segment<String>,
) -> Result<StatusCode, Problem> {
    existing(&admin, &name).await?;
    admin.store.revoke_sessions(&name).await?;
    admin.audit(&caller, "user.revoke", &name, None, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn existing(admin: &Admin, name: &str) -> Result<UserRow, Problem> {
    // A database knows no text with a zero in it.
    let user = if is_name(name) { admin.store.user(name).await? } else { None };
    user.ok_or_else(|| Problem::not_found("account", name))
}

/// Somebody must be left who can let others in.
async fn keep_an_admin(admin: &Admin, but: &str) -> Result<(), Problem> {
    let users = admin.store.users().await?;
    let is_left =
        users.iter().any(|user| user.name != but && user.is_enabled && user.role == Role::Admin.name());
    let is_one =
        users.iter().any(|user| user.name == but && user.role == Role::Admin.name() && user.is_enabled);
    if is_one && !is_left {
        Err(Problem::conflict(format!("{but} is the last admin there is")))
    } else {
        Ok(())
    }
}

/// What stands for an account in headers. Logging in and changing the password leave it as it is.
fn tag_of(user: &UserRow) -> String {
    tag(&json!({"role": user.role, "enabled": user.is_enabled, "created_at": user.created_at}))
}

fn tagged(user: UserRow) -> Result<impl IntoResponse, Problem> {
    let (tag, name) = (tag_of(&user), user.name.clone());
    let user = shown(user).ok_or_else(|| Problem::not_found("account", &name))?;
    Ok((etag(&tag), Json(user)))
}

fn shown(user: UserRow) -> Option<User> {
    Some(User {
        role: Role::parse(&user.role)?,
        username: user.name,
        enabled: user.is_enabled,
        must_change_password: user.must_change,
        created_at: user.created_at,
        last_login_at: user.last_login_at,
    })
}
