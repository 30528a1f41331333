//! Accounts and tokens for machines.

use super::etag::{IfMatch, etag, tag};
use super::page::Segment;
use crate::auth::account::is_name;
use crate::auth::caller::TOKEN_PREFIX;
use crate::auth::{Administrator, Role, password};
use crate::clock;
use crate::form::Form;
use crate::problem::{FieldError, Problem};
use crate::secret;
use crate::state::{Admin, Shared};
use crate::store::{TokenRow, UserRow};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

/// The longest that a token may be good for, in days.
const MAX_DAYS: i64 = 366;

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

/// All accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Users {
    /// The accounts, by name.
    data: Vec<User>,
    /// How many there are.
    total: usize,
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

/// A token for a machine.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// What it is revoked by.
    id: String,
    /// What it is for.
    name: String,
    /// What it may do.
    role: Role,
    /// Who made it.
    created_by: String,
    /// When, in milliseconds since 1970.
    created_at: i64,
    /// Until when it is good.
    expires_at: i64,
    /// When it was last used, to the minute.
    last_used_at: Option<i64>,
}

/// All tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Tokens {
    /// The tokens, the latest first.
    data: Vec<Token>,
    /// How many there are.
    total: usize,
}

/// A new token.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct NewToken {
    /// What it is for.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// What it may do.
    role: Role,
    /// For how many days it is good.
    #[schema(minimum = 1, maximum = 366, default = 90)]
    expires_in_days: Option<i64>,
}

/// A token with its secret, told this once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TokenWithSecret {
    #[serde(flatten)]
    token: Token,
    /// What to send as `Authorization: Bearer`.
    secret: String,
}

/// Lists the accounts.
#[utoipa::path(get, path = "/api/v1/users", tag = "users", extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "all accounts", body = Users)))]
pub(crate) async fn list(State(admin): State<Shared>, _: Administrator) -> Result<Json<Users>, Problem> {
    let data: Vec<User> = admin.store.users().await?.into_iter().filter_map(shown).collect();
    Ok(Json(Users { total: data.len(), data }))
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
    let role = role(&mut form, true);
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
    let (role, enabled) = (role(&mut form, false), form.flag("enabled"));
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

/// Lists the tokens of machines.
#[utoipa::path(get, path = "/api/v1/tokens", tag = "users", extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "all tokens", body = Tokens)))]
pub(crate) async fn list_tokens(
    State(admin): State<Shared>,
    _: Administrator,
) -> Result<Json<Tokens>, Problem> {
    let data: Vec<Token> = admin.store.tokens().await?.into_iter().filter_map(shown_token).collect();
    Ok(Json(Tokens { total: data.len(), data }))
}

/// Makes a token for a machine.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "users", request_body = NewToken,
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 201, description = "it was made", body = TokenWithSecret)))]
pub(crate) async fn create_token(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    mut form: Form,
) -> Result<(StatusCode, Json<TokenWithSecret>), Problem> {
    let name = form.text("name", 1..=100);
    let role = role(&mut form, true);
    let days = form.whole("expires_in_days", 1..=MAX_DAYS).unwrap_or(90);
    form.finish()?;
    let (id, secret, now) = (secret::hex(&secret::bytes::<8>()?), secret::token()?, clock::wall());
    let row = TokenRow {
        id: id.clone(),
        name: name.clone(),
        hash: secret::digest(&secret),
        role: role.unwrap_or(Role::Viewer).name().into(),
        created_by: caller.name.clone(),
        created_at: now,
        expires_at: now + days * 86_400_000,
        last_used_at: None,
    };
    admin.store.add_token(&row).await?;
    let after = json!({"name": name, "role": row.role, "expires_at": row.expires_at});
    admin.audit(&caller, "token.create", &id, None, Some(&after)).await?;
    let token = shown_token(row).ok_or_else(|| Problem::not_found("token", &id))?;
    Ok((
        StatusCode::CREATED,
        Json(TokenWithSecret { token, secret: format!("{TOKEN_PREFIX}_{id}_{secret}") }),
    ))
}

/// Revokes a token. One that is not there is as good as revoked.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "users", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 204, description = "it is good no longer")))]
pub(crate) async fn delete_token(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id = id.replace('\0', "\u{fffd}");
    let token = admin.store.token(&id).await?;
    if admin.store.delete_token(&id).await? {
        let before = token
            .map(|token| json!({"name": token.name, "role": token.role, "expires_at": token.expires_at}));
        admin.audit(&caller, "token.delete", &id, before.as_ref(), None).await?;
    }
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

fn role(form: &mut Form, is_required: bool) -> Option<Role> {
    let role = form.word("role", &Role::ALL);
    if role.is_none() && is_required && !form.has_fault("role") {
        form.missing("role", "one of viewer, operator, admin");
    }
    role
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

fn shown_token(token: TokenRow) -> Option<Token> {
    Some(Token {
        role: Role::parse(&token.role)?,
        id: token.id,
        name: token.name,
        created_by: token.created_by,
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    })
}
