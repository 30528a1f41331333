//! Who is calling, and what they may do.

use super::Role;
use crate::clock;
use crate::problem::Problem;
use crate::secret;
use crate::server::Peer;
use crate::state::Admin;
use crate::store::{Stored, TokenRow, UserRow};
use axum::extract::{ConnectInfo, FromRequestParts};
use http::request::Parts;
use http::{HeaderMap, header};
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_config::gateway::Network;
use tollgate_core::network::client_behind;

/// What tokens of machines start with.
pub(crate) const TOKEN_PREFIX: &str = "tgt";

/// Who is calling.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) kind: CallerKind,
    pub(crate) role: Role,
    pub(crate) ip: IpAddr,
}

/// What kind of caller it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallerKind {
    /// A person, in a session.
    User {
        /// Which session.
        session: String,
        /// Whether the password has to be changed before anything else.
        must_change: bool,
    },
    /// A machine.
    Token {
        /// By which token.
        id: String,
        /// Whose account answers for it.
        owner: String,
    },
}

impl Caller {
    pub(crate) const fn kind_name(&self) -> &'static str {
        match self.kind {
            CallerKind::User { .. } => "user",
            CallerKind::Token { .. } => "token",
        }
    }

    /// The account that answers for the caller: a token acts for whoever had it made.
    pub(crate) fn account(&self) -> &str {
        match &self.kind {
            CallerKind::User { .. } => &self.name,
            CallerKind::Token { owner, .. } => owner,
        }
    }

    /// Whether that role is needed no more than this caller has.
    pub(crate) fn may(&self, role: Role) -> Result<(), Problem> {
        if self.role < role {
            let detail =
                format!("this needs the role {}, {} has {}", role.name(), self.name, self.role.name());
            return Err(Problem::forbidden(detail));
        }
        Ok(())
    }

    fn at_least(self, role: Role) -> Result<Self, Problem> {
        if matches!(self.kind, CallerKind::User { must_change: true, .. }) {
            return Err(change_first());
        }
        self.may(role)?;
        Ok(self)
    }
}

/// Anybody who is known, even if the password has to be changed first.
#[derive(Clone, Debug)]
pub(crate) struct Known(pub(crate) Caller);

/// Somebody who may look.
#[derive(Clone, Debug)]
pub(crate) struct Viewer(pub(crate) Caller);

/// Somebody who may change what applications get.
#[derive(Clone, Debug)]
pub(crate) struct Operator(pub(crate) Caller);

/// Somebody who may do everything.
#[derive(Clone, Debug)]
pub(crate) struct Administrator(pub(crate) Caller);

/// Where a call comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientIp(pub(crate) IpAddr);

impl FromRequestParts<Arc<Admin>> for Known {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, admin: &Arc<Admin>) -> Result<Self, Problem> {
        let ip = client_ip(parts, &admin.settings.trusted_proxies);
        let bearer = bearer(&parts.headers)?;
        let machine = bearer.strip_prefix(TOKEN_PREFIX).and_then(|rest| rest.strip_prefix('_'));
        match machine {
            Some(rest) => machine_caller(admin, rest, ip).await.map(Self),
            None => user_caller(admin, bearer, ip).await.map(Self),
        }
    }
}

macro_rules! needs {
    ($($name:ident $role:ident,)+) => {
        $(impl FromRequestParts<Arc<Admin>> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, admin: &Arc<Admin>) -> Result<Self, Problem> {
                let Known(caller) = Known::from_request_parts(parts, admin).await?;
                caller.at_least(Role::$role).map(Self)
            }
        })+
    };
}

needs! {
    Viewer Viewer,
    Operator Operator,
    Administrator Admin,
}

impl FromRequestParts<Arc<Admin>> for ClientIp {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, admin: &Arc<Admin>) -> Result<Self, Self::Rejection> {
        Ok(Self(client_ip(parts, &admin.settings.trusted_proxies)))
    }
}

impl CallerKind {
    /// Whether whoever came by this would still be let in.
    pub(crate) async fn is_good(&self, admin: &Admin) -> Stored<bool> {
        let now = clock::wall();
        match self {
            Self::User { session, .. } => admin.store.has_session(session, now).await,
            Self::Token { id, .. } => {
                let Some(token) = admin.store.token(id).await? else { return Ok(false) };
                let owner = owner_of(admin, &token).await?;
                Ok(token.expires_at > now && owner.is_some_and(|owner| !owner.must_change))
            }
        }
    }
}

fn change_first() -> Problem {
    let status = http::StatusCode::FORBIDDEN;
    Problem::new(status, "password_change_required", "the password has to be changed first")
        .detail("PUT /api/v1/me/password")
}

async fn user_caller(admin: &Admin, token: &str, ip: IpAddr) -> Result<Caller, Problem> {
    let stale = || Problem::unauthorized("the access token is wrong, has expired or was revoked");
    let claims = admin.keys.check(token).ok_or_else(stale)?;
    let user = admin.store.user(&claims.sub).await?.ok_or_else(stale)?;
    let is_current = user.is_enabled && user.generation == claims.generation;
    if !is_current || !admin.store.has_session(&claims.sid, clock::wall()).await? {
        return Err(stale());
    }
    let role = Role::parse(&user.role).ok_or_else(stale)?;
    let kind = CallerKind::User { session: claims.sid, must_change: user.must_change };
    Ok(Caller { name: user.name, kind, role, ip })
}

async fn machine_caller(admin: &Admin, rest: &str, ip: IpAddr) -> Result<Caller, Problem> {
    let wrong = || Problem::unauthorized("the token is wrong, has expired or was revoked");
    let (id, secret) = rest.split_once('_').ok_or_else(wrong)?;
    let token = admin.store.token(id).await?.ok_or_else(wrong)?;
    let now = clock::wall();
    if token.expires_at <= now || !secret::same(&token.hash, &secret::digest(secret)) {
        return Err(wrong());
    }
    let owner = owner_of(admin, &token).await?.ok_or_else(wrong)?;
    // Its password may have been known to a stranger, who may have made the token.
    if owner.must_change {
        return Err(change_first());
    }
    let (own, owners) = (Role::parse(&token.role), Role::parse(&owner.role));
    // A token may never do more than the account that answers for it may by now.
    let role = own.zip(owners).map(|(own, owners)| own.min(owners)).ok_or_else(wrong)?;
    admin.store.saw_token(id, now).await?;
    Ok(Caller { name: token.name, kind: CallerKind::Token { id: token.id, owner: owner.name }, role, ip })
}

/// The account that answers for a token, if it can be used. One of the same name that was made later is somebody else's.
async fn owner_of(admin: &Admin, token: &TokenRow) -> Stored<Option<UserRow>> {
    let owner = admin.store.user(&token.created_by).await?;
    Ok(owner.filter(|owner| owner.is_enabled && owner.created_at <= token.created_at))
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let value =
        headers.get(header::AUTHORIZATION).ok_or_else(|| Problem::unauthorized("no Authorization header"))?;
    let value = value.to_str().unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(Problem::unauthorized("expected Authorization: Bearer TOKEN"));
    }
    Ok(token)
}

/// Whom the call comes from: the peer, or whom trusted proxies name.
pub(crate) fn client_ip(parts: &Parts, trusted: &[Network]) -> IpAddr {
    let peer = parts.extensions.get::<ConnectInfo<Peer>>();
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |ConnectInfo(Peer(address))| address.ip());
    let lines = parts.headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    client_behind(peer, trusted, hops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn client(peer: [u8; 4], forwarded: &[&[u8]]) -> String {
        let mut request = http::Request::builder();
        for line in forwarded {
            request = request.header("x-forwarded-for", *line);
        }
        let peer = ConnectInfo(Peer(SocketAddr::from((peer, 7))));
        let (parts, ()) = request.extension(peer).body(()).unwrap().into_parts();
        let trusted = [Network::new("10.0.0.0/8").unwrap()];
        client_ip(&parts, &trusted).to_string()
    }

    #[test]
    fn a_client_cannot_put_another_address_before_its_own() {
        let proxy = [10, 0, 0, 1];
        assert_eq!(client(proxy, &[b"6.6.6.6, 203.0.113.9"]), "203.0.113.9");
        assert_eq!(client(proxy, &[b"6.6.6.6, 203.0.113.9:4711"]), "203.0.113.9");
        assert_eq!(client(proxy, &[b"6.6.6.6", b"203.0.113.9:4711, 10.0.0.2"]), "203.0.113.9");
        assert_eq!(client(proxy, &[b"6.6.6.6, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client(proxy, &[b"6.6.6.6", b"caf\xe9"]), "10.0.0.1");
        assert_eq!(client([203, 0, 113, 9], &[b"6.6.6.6"]), "203.0.113.9");
    }
}
