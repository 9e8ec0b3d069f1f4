# Ask and tell with a server of zoviz's: `zoviz serve --api`. Needs the package JSON; Downloads is of Julia's own.
#
#   session = Zoviz.Session("http://127.0.0.1:5006", token; bounds=[[-2, 2], [-2, 2]], m=1, calls=100)
#   result = Zoviz.minimise(x -> (sum(abs2, x), [1 - x[1]]), session)
module Zoviz

using Downloads, JSON

struct Session
    server::String
    token::String
    id::String
end

function request(server, token, method, path, body=nothing)
    output = IOBuffer()
    input = body === nothing ? nothing : IOBuffer(JSON.json(body))
    headers = ["Authorization" => "Bearer $token", "Content-Type" => "application/json"]
    answer = Downloads.request("$server/api$path"; method, headers, input, output)
    content = JSON.parse(String(take!(output)))
    answer.status >= 400 && error(content["error"])
    return content
end

"Begin a session with these settings."
Session(server, token; settings...) =
    Session(server, token, request(server, token, "POST", "/sessions", Dict(settings))["id"])

"Minimise `fun`, which returns f and h; what it throws is a failed call."
function minimise(fun, session)
    ask(method, part, body=nothing) = request(session.server, session.token, method, "/sessions/$(session.id)/$part", body)
    while !(asked = ask("GET", "ask"))["done"]
        for point in asked["points"]
            f, h = try fun(Float64.(point["x"])) catch; (nothing, []) end
            ask("POST", "tell", Dict("points" => [Dict("id" => point["id"], "f" => f, "h" => h)]))
        end
    end
    return ask("GET", "result")
end

end
